/** Requests for permission in a program of one's own: seen as a record, answered, and a turn that is ended. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AgentAdapter, Runtime } from "../../src/library/index.ts";
import { openForTest, type Script, type TestOptions } from "../../src/library/testing.ts";
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

const openedForTest = async (options: TestOptions) => {
  const reports: string[] = [];
  const opened = await openForTest({ report: (message) => reports.push(message), ...options });
  onTestFinished(() => opened.close());
  return { ...opened, reports };
};

/** Asks for two tools, and says what it was answered. */
const asksTwice: Script = async (agent) => {
  const answers = [await agent.ask("Read", { file: "a" }), await agent.ask("Bash", { command: "b" })];
  agent.say(answers.map(({ decision, message = "" }) => `${decision} ${message}`).join(","));
};
const asking = { kind: "claude_code", prompt: "x", permission: "ask" } as const;

test("a run is answered by a function, which is asked only what no rule decides", async () => {
  const { runtime, reports } = await openedForTest({ script: asksTwice });
  const asked: (string | null)[] = [];
  const worker = await runtime.run({
    ...asking,
    permission_rules: [{ action: "allow", tool: "Read" }],
    onApproval: ({ tool, input }) => {
      asked.push(tool, JSON.stringify(input));
      return { decision: "deny", message: "not here" };
    },
  });
  expect(await worker.text()).toBe("allow ,deny not here");
  expect(asked).toEqual(["Bash", '{"command":"b"}']);
  expect(reports).toEqual([]);
});

test("a function that others are faster than is told so by its signal, and its late answer is no error", async () => {
  const { runtime, reports } = await openedForTest({ script: asksTwice });
  const worker = await runtime.run({
    ...asking,
    onApproval: async ({ approval_id }, { signal }) => {
      const over = new Promise((resolve) => signal.addEventListener("abort", resolve));
      await runtime.approve(approval_id, "allow", { by: "somebody else" });
      await over;
      return "deny" as const;
    },
  });
  expect(await worker.text()).toBe("allow ,allow ");
  expect(reports).toEqual([]);
});

test("open requests are watched, those from before the watch too, and one that is left to others stays open", async () => {
  const { runtime, settled, reports } = await openedForTest({ script: asksTwice });
  const worker = await runtime.run({
    ...asking,
    onApproval: ({ tool }) => {
      if (tool === "Bash") throw new Error("no idea");
      return undefined;
    },
  });
  await settled();
  const tools: (string | null)[] = [];
  for await (const { approval_id, tool } of runtime.approvals.watch({ id: worker.id })) {
    tools.push(tool);
    await settled();
    await runtime.approve(approval_id, "allow");
  }
  expect(tools).toEqual(["Read", "Bash"]);
  expect(await worker.text()).toBe("allow ,allow ");
  expect(reports).toEqual([expect.stringContaining("was not answered")]);
});

test("a runtime has one function for all its workers", async () => {
  const runtime = await Runtime.open({
    stateDir: stateDirectory(),
    onApproval: ({ title }) => (title === "opens a door" ? "allow" : "deny"),
  });
  onTestFinished(() => runtime.close());
  const env = { CLAUDE_BINARY: AGENT, LEDGER: join(stateDirectory(), "ledger") };
  const worker = await runtime.run({ ...asking, prompt: "permit", env });
  expect(await worker.text()).toBe("the door: allow");
});

const examples = join(import.meta.dirname, "../../examples/adapters");

test.each([
  ["deny", { message: "use a\u2028branch" }, "did not: rm -rf / (use a\u2028branch)"],
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
