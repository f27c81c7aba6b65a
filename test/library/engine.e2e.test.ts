/** `Runtime.open({ engine })`: the agent is a part of this program, with its functions as tools. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { echoEngine } from "../../src/engine/echo.ts";
import { scriptedModel } from "../../src/engine/scripted.ts";
import { type EngineOptions, functionTool, Runtime } from "../../src/library/index.ts";

const opened = async (engine: EngineOptions) => {
  const runtime = await Runtime.open({ stateDir: mkdtempSync(join(tmpdir(), "holdfast-engine-")), engine });
  onTestFinished(() => runtime.close());
  return runtime;
};
const task = { kind: "llm", model: "scripted/own", prompt: "Add 2 and 3.", restart: "temporary" } as const;

test("a worker runs in this program, with a function as its tool, and its hooks are called", async () => {
  const called: string[] = [];
  const runtime = await opened({
    model: scriptedModel([
      { calls: [{ id: "c1", name: "add", input: { a: 2, b: "3" } }] },
      { calls: [{ id: "c2", name: "add", input: { a: 2, b: 3 } }] },
      { text: '{"sum":5}', usage: { input_tokens: 7 } },
    ]),
    tools: {
      add: functionTool({
        description: "Adds two numbers.",
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.number(),
        run: ({ a, b }) => {
          called.push(`add ${a} ${b}`);
          return a + b;
        },
      }),
    },
    hooks: { start: () => called.push("start"), completion: () => called.push("completion") },
  });
  const worker = await runtime.run({ ...task, output: z.object({ sum: z.number() }) });
  const { object } = await worker.result;
  expect(object).toEqual({ sum: 5 });
  expect(called, "a wrong input does not reach the function").toEqual(["start", "add 2 3", "completion"]);
  const info = await runtime.info(worker.id);
  expect(info).toMatchObject({ backend_kind: "in_process", tool_calls: 2, usage: { input_tokens: 7 } });
});

test("a kill ends a tool that waits, and calls the hook of a cancel", async () => {
  const called: string[] = [];
  const waits = Promise.withResolvers<void>();
  const runtime = await opened({
    model: scriptedModel([{ calls: [{ id: "c1", name: "wait" }] }]),
    tools: {
      wait: functionTool({
        description: "Waits.",
        input: z.object({}),
        run: (_, { signal }) => {
          waits.resolve();
          return new Promise((_done, failed) => {
            signal.addEventListener("abort", () => failed(signal.reason));
          });
        },
      }),
    },
    hooks: { cancel: () => called.push("cancel"), failure: () => called.push("failure") },
  });
  const worker = await runtime.run(task);
  await waits.promise;
  await worker.kill();
  expect((await worker.result).status).toBe("cancelled");
  expect(called).toEqual(["cancel"]);
});

test("an engine of the program's own takes the place of ours", async () => {
  const runtime = await opened({ engine: echoEngine });
  expect(await (await runtime.run(task)).text()).toBe("Add 2 and 3.");
});

test("a conversation goes on in the next program, in its session", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdfast-engine-"));
  const engine = { model: scriptedModel([{ text: "One." }, { text: "Two." }, { text: "Three." }]) };
  const conversation = { ...task, prompt: "Begin.", interactive: true, restart: "transient" } as const;

  const first = await Runtime.open({ stateDir, engine });
  const { id } = await first.run(conversation);
  expect(await first.ask(id, "And then?")).toMatchObject({ text: "Two." });
  const { session_id } = await first.info(id);
  await first.close({ agents: "keep" });

  const next = await Runtime.open({ stateDir, engine });
  onTestFinished(() => next.close());
  expect(await next.ask(id, "And now?")).toMatchObject({ text: "Three." });
  expect(await next.info(id)).toMatchObject({ session_id, turns: 3, incarnation: 2 });
});
