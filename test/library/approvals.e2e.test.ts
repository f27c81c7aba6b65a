/** Requests for permission in a program of one's own: seen as a record, answered, and a turn that is ended. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AgentAdapter, Runtime } from "../../src/library/index.ts";
import { openRuntime, stateDirectory } from "./support.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/converses.mjs");

const opened = async () => {
  const stateDir = stateDirectory();
  const runtime = await openRuntime(stateDir);
  const ledger = join(stateDir, "ledger");
  return { runtime, env: { CLAUDE_BINARY: AGENT, LEDGER: ledger }, said: () => readFileSync(ledger, "utf8") };
};

test("a request is answered where its record is seen, and the run goes to its end", async () => {
  const { runtime, env, said } = await opened();
  const { id } = await runtime.spawn({ kind: "claude_code", prompt: "permit", permission: "ask", env });
  for await (const record of runtime.watch(id)) {
    if (record.type !== "approval_requested") continue;
    const { approval_id, tool, input } = record.payload;
    expect({ tool, input }).toEqual({ tool: "Door", input: { command: "open it" } });
    expect((await runtime.approvals()).approvals).toMatchObject([{ approval_id, state: "open" }]);
    expect((await runtime.approvals({ id: approval_id })).approvals).toMatchObject([{ approval_id }]);
    await runtime.approve(approval_id, "deny", { message: "not now", by: "the test" });
  }
  expect(said()).toContain("door 1 deny");
  const { approvals } = await runtime.approvals({ all: true });
  expect(approvals).toMatchObject([{ state: "denied", by: "the test", message: "not now" }]);
  expect((await runtime.output(id)).text).toBe("the door: deny");
});

test("a turn is ended, and the agent stays", async () => {
  const { runtime, env } = await opened();
  const { id } = await runtime.spawn({ kind: "claude_code", prompt: "work", interactive: true, env });
  for await (const record of runtime.watch(id))
    if (record.type === "worker_message" && record.payload.state === "acknowledged") break;
  expect(await runtime.cancel(id)).toEqual({ id, effect: "updated" });
  expect((await runtime.ask(id, "hello")).text).toBe("heard hello");
  await runtime.kill([id]);
});

const examples = join(import.meta.dirname, "../../examples/adapters");

test.each([
  ["deny", { message: "use a branch" }, "did not: rm -rf / (use a branch)"],
  ["deny", {}, "did not: rm -rf /"],
  ["allow", { message: "go on" }, "did: rm -rf /"],
] as const)("the example adapter hands a %s with %j to its program", async (decision, how, answer) => {
  const { default: asks } = (await import(join(examples, "asks.mjs"))) as { default: AgentAdapter };
  const runtime = await Runtime.open({ stateDir: stateDirectory(), adapters: [asks] });
  onTestFinished(() => runtime.close());
  const env = { ASKS_BINARY: join(examples, "asks-agent.mjs") };
  const { id } = await runtime.spawn({ kind: "asks", prompt: "do rm -rf /", permission: "ask", env });
  for await (const record of runtime.watch(id))
    if (record.type === "approval_requested") await runtime.approve(id, decision, how);
  expect((await runtime.output(id)).text).toBe(answer);
});
