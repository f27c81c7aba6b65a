/** `run` and the handle of a worker: its events, its end, its answer as an object, and what ends it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { openForTest, type TestOptions } from "../../src/library/testing.ts";
import { collect, first, openRuntime, stateDirectory } from "./support.ts";

const shell = (script: string) => ({ kind: "command", argv: ["sh", "-c", script] }) as const;
const ENDLESS = shell("echo begun; exec sleep 600");

test("one call runs a program to its end, and the handle gives its events, its result and its text", async () => {
  const runtime = await openRuntime();
  const worker = await runtime.run(shell("echo one; echo two; echo oops >&2; exit 3"));
  const events = await collect(worker);
  const lines = events.flatMap((event) => (event.kind === "TextOutput" ? [event.text] : []));
  expect(lines.join("")).toContain("one\n");
  expect(await worker.result).toMatchObject({
    id: worker.id,
    status: "failed",
    exit_code: 3,
    text: "one\ntwo\n",
    object: undefined,
  });
  await expect(worker.text()).rejects.toMatchObject({ code: "AGENT_FAILED" });
  const good = await runtime.run(shell("echo fine"));
  expect(await good.text()).toBe("fine\n");
});

test("a handle of a worker that is there already, by its name", async () => {
  const runtime = await openRuntime();
  await runtime.spawn({ ...shell("cat"), name: "cat", interactive: true });
  const cat = await runtime.worker("cat");
  await cat.send("hello\n");
  expect(await first(runtime.watch(cat.id), "agent.event")).toMatchObject({ payload: { text: "hello\n" } });
  expect(await cat.pause()).toMatchObject({ ok: true });
  expect((await cat.info()).paused).toMatchObject([{ reason: "operator" }]);
  expect(await cat.unpause()).toMatchObject({ ok: true });
  await cat.send(undefined, { close: true });
  expect(await cat.result).toMatchObject({ status: "completed", text: "hello\n" });
  await cat.restart();
  const again = cat.result;
  await cat.kill();
  expect(await again).toMatchObject({ status: "cancelled" });
  await expect(runtime.worker("nobody")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
});

test("disposing of a handle kills its worker", async () => {
  const runtime = await openRuntime();
  const { id } = await (async () => {
    await using worker = await runtime.run(ENDLESS);
    return worker;
  })();
  expect(await runtime.wait(id)).toMatchObject({ status: "cancelled", reason: expect.any(String) });
});

test("events are chosen by kind, and an abort ends the loop without an error", async () => {
  const { runtime, settled } = await openedForTest({
    script: async (agent) => {
      agent.tool("Read");
      agent.say("Done.");
      await agent.ended;
    },
  });
  const worker = await runtime.run({ kind: "claude_code", prompt: "x" });
  await settled();
  const enough = new AbortController();
  const calls = worker.events({ kinds: ["ToolCall"], signal: enough.signal });
  const names: (string | null)[] = [];
  for await (const { data } of calls) {
    names.push(data.tool.tool_name);
    enough.abort();
  }
  expect(names).toEqual(["Read"]);
});

test("an abort kills a run, whenever it comes, and its result says CANCELLED", async () => {
  const runtime = await openRuntime();
  const stop = new AbortController();
  const worker = await runtime.run({ ...ENDLESS, signal: stop.signal });
  await first(runtime.watch(worker.id), "agent.event");
  const reason = new Error("enough");
  stop.abort(reason);
  await expect(worker.result).rejects.toMatchObject({ code: "CANCELLED", cause: reason });
  expect(await runtime.wait(worker.id)).toMatchObject({ status: "cancelled" });

  await expect(runtime.run({ ...ENDLESS, signal: stop.signal })).rejects.toMatchObject({ code: "CANCELLED" });
  expect(await runtime.list({ all: true })).toHaveLength(1);
  const late = new AbortController();
  const spawned = runtime.spawn(ENDLESS, { signal: late.signal });
  late.abort();
  await expect(spawned).rejects.toMatchObject({ code: "CANCELLED" });
  expect((await runtime.list()).map(({ state }) => state)).toEqual([]);
});

test("a wait is given up, and the worker goes on", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn(ENDLESS);
  await first(runtime.watch(id), "agent.event");
  const enough = new AbortController();
  const waiting = runtime.wait([id], { signal: enough.signal });
  enough.abort();
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(runtime.wait(id, { timeout_ms: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
  expect(await runtime.info(id)).toMatchObject({ status: "running" });
});

const openedForTest = async (options: TestOptions) => {
  const opened = await openForTest(options);
  onTestFinished(() => opened.close());
  return opened;
};

const City = z.object({ city: z.string(), people: z.int().positive() });
const ANSWERS = join(import.meta.dirname, "../fixtures/agents/answers.mjs");

const openedWith = async (FIRST: string, AGAIN = "") => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  const TOLD = join(stateDir, "told");
  const told = () =>
    readFileSync(TOLD, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): { argv: string[]; prompt: string } => JSON.parse(line));
  const options = {
    kind: "claude_code",
    prompt: "Which city?",
    env: { CLAUDE_BINARY: ANSWERS, FIRST, AGAIN, TOLD },
    output: City,
  } as const;
  return { runtime, options, told };
};

test("an answer with a schema is an object, and the CLI is told the schema", async () => {
  const { runtime, options, told } = await openedWith('{"city":"Łódź","people":648711}');
  const worker = await runtime.run(options);
  const { object } = await worker.result;
  object satisfies z.infer<typeof City>;
  expect(object).toEqual({ city: "Łódź", people: 648_711 });
  const [{ argv, prompt } = { argv: [], prompt: "" }] = told();
  expect(prompt).toBe("Which city?");
  expect(JSON.parse(argv[argv.indexOf("--json-schema") + 1] ?? "")).toMatchObject({
    type: "object",
    required: ["city", "people"],
  });
});

test("an answer that does not fit is asked for once more, in the same session, with what was wrong", async () => {
  const { runtime, options, told } = await openedWith('{"city":"Łódź"}', '{"city":"Łódź","people":1}');
  const worker = await runtime.run(options);
  const { id, object } = await worker.result;
  expect(object).toEqual({ city: "Łódź", people: 1 });
  expect(id).not.toBe(worker.id);
  expect(told()[1]).toMatchObject({ argv: expect.arrayContaining(["--resume", "the-session"]) });
  expect(told()[1]?.prompt).toMatch(/^Your answer does not fit its schema: people: .*number/);
  expect((await (await runtime.worker(worker.id)).result).status).toBe("completed");
});

test("an answer that never fits rejects, with what was wrong", async () => {
  const { runtime, options, told } = await openedWith("I do not know.", "Still not.");
  const worker = await runtime.run(options);
  await expect(worker.result).rejects.toMatchObject({
    code: "AGENT_FAILED",
    info: { problems: ["it is not one JSON object"] },
  });
  expect(told()).toHaveLength(2);
});

test("an agent whose CLI takes no schema is told it in its prompt, and a JSON Schema is as good as one of zod", async () => {
  const { runtime } = await openedForTest({
    script: (agent) => {
      const schema = JSON.parse(agent.text.split("\n").at(-1) ?? "");
      agent.say(`Here it is:\n\`\`\`json\n${JSON.stringify({ asked: schema.required })}\n\`\`\``);
    },
  });
  const output = {
    type: "object",
    properties: { asked: { type: "array", items: { type: "string" } } },
    required: ["asked"],
  } as const;
  const worker = await runtime.run({ kind: "opencode", prompt: "Which?", output });
  expect((await worker.result).object).toEqual({ asked: ["asked"] });
});

test("a program's output is read as it is, and has one try", async () => {
  const runtime = await openRuntime();
  const output = z.object({ n: z.number() });
  const good = await runtime.run({ ...shell(`echo '{"n":1}'`), output });
  expect((await good.result).object).toEqual({ n: 1 });
  const bad = await runtime.run({ ...shell("echo no"), output });
  await expect(bad.result).rejects.toMatchObject({ code: "AGENT_FAILED" });
  const failed = await runtime.run({ ...shell(`echo '{"n":1}'; exit 1`), output });
  await expect(failed.result).rejects.toMatchObject({
    code: "AGENT_FAILED",
    info: { details: { status: "failed" } },
  });
  await expect(runtime.run({ ...shell("true"), output: { type: 5 } as never })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});
