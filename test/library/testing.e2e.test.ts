/** `openForTest`: a program over the runtime is tested without processes, with agents that are scripts, on a clock that is moved by hand. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SpawnOptions } from "../../src/library/index.ts";
import { openForTest, type TestOptions } from "../../src/library/testing.ts";
import { collect, program } from "./support.ts";

const open = async (options: TestOptions = {}) => {
  const reports: string[] = [];
  const opened = await openForTest({ report: (message) => reports.push(message), ...options });
  onTestFinished(() => opened.close());
  return { ...opened, reports };
};

test("an agent that fails twice is restarted after its backoffs, which take no time", async () => {
  const { runtime, clock, settled, reports } = await open({
    script: (agent) => {
      if (agent.incarnation < 3) return 1;
      agent.say(`You asked: ${agent.text}`);
      return 0;
    },
  });
  const begun = performance.now();
  const { id } = await runtime.spawn({
    kind: "claude_code",
    prompt: "hello",
    backoff_min_ms: 20_000,
    backoff_max_ms: 60_000,
  });
  await settled();
  expect(await runtime.info(id)).toMatchObject({ incarnation: 1 });
  await clock.advance(19_000);
  expect(await runtime.info(id)).toMatchObject({ incarnation: 1 });
  await clock.advance(2_000);
  expect(await runtime.info(id)).toMatchObject({ incarnation: 2 });
  await clock.advance(60_000);
  expect(await runtime.wait(id)).toMatchObject({ status: "completed" });
  expect(await runtime.info(id)).toMatchObject({ incarnation: 3 });
  expect((await runtime.output(id)).text).toBe("You asked: hello");
  expect(clock.now()).toBe(81_000);
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(reports).toEqual([]);
});

test("each worker plays its own script: by its name, its kind, or the one for all", async () => {
  const { runtime } = await open({
    agents: {
      fixer: (agent) => agent.say("by name"),
      codex: (agent) => agent.say("by kind"),
    },
    script: (agent) => agent.say("for all"),
  });
  const said = async (kind: string, name?: string) => {
    const asked = { prompt: "x", ...(name && { name }), ...(kind === "command" && { argv: ["x"] }) };
    const { id } = await runtime.spawn({ ...asked, kind } as SpawnOptions);
    expect(await runtime.wait(id)).toMatchObject({ status: "completed" });
    return (await runtime.output(id)).text;
  };
  expect(await said("codex", "fixer")).toBe("by name");
  expect(await said("codex")).toBe("by kind");
  expect(await said("gemini_cli")).toBe("for all");
  expect(await said("command")).toBe("for all\n");
});

test("an agent asks for permission, and a program answers", async () => {
  const { runtime } = await open({
    script: async (agent) => {
      const { decision, message } = await agent.ask("Bash", { command: "rm -rf /" });
      agent.say(`${decision}: ${message}`);
    },
  });
  const { id } = await runtime.spawn({ kind: "claude_code", prompt: "x", permission: "ask" });
  for await (const record of runtime.watch(id))
    if (record.type === "approval_requested") await runtime.approve(id, "deny", { message: "not this" });
  expect(await runtime.wait(id)).toMatchObject({ status: "completed" });
  expect((await runtime.output(id)).text).toBe("deny: not this");
});

test("a conversation is a call of the script a message", async () => {
  const { runtime } = await open({ script: (agent) => agent.say(`heard ${agent.text}`) });
  const { id } = await runtime.spawn({ kind: "claude_code", interactive: true });
  expect((await runtime.ask(id, "one")).text).toBe("heard one");
  expect((await runtime.ask(id, "two")).text).toBe("heard two");
  await runtime.send(id, undefined, { close: true });
  expect(await runtime.wait(id)).toMatchObject({ status: "completed" });
});

test("a budget of one turn ends a conversation at its second message", async () => {
  const { runtime, settled } = await open({ script: (agent) => agent.say(`heard ${agent.text}`) });
  const { id } = await runtime.spawn({
    kind: "claude_code",
    interactive: true,
    budget: { turns: 1 },
    on_breach: "stop",
  });
  expect((await runtime.ask(id, "one")).text).toBe("heard one");
  await settled();
  expect(await runtime.info(id)).toMatchObject({ state: "running", budgets: [{ spent: { turns: 1 } }] });
  await runtime.send(id, "two");
  expect(await runtime.wait(id)).toMatchObject({ status: "failed", error: { code: "MAX_TURNS" } });
});

test("usage, calls and failures of an agent are seen as those of a real one", async () => {
  const { runtime } = await open({
    script: (agent) => {
      agent.tool("Read");
      agent.uses({ input_tokens: 10, output_tokens: 5, cost_usd: 0.25 });
      if (agent.text !== "fail") return;
      agent.fails({ code: "BUDGET_EXCEEDED", message: "Nothing is left." });
      return 1;
    },
  });
  const good = await runtime.spawn({ kind: "claude_code", prompt: "x", name: "good" });
  await runtime.wait(good.id);
  expect((await runtime.usage([good.id])).total).toMatchObject({
    turns: 1,
    input_tokens: 10,
    cost_usd: 0.25,
    tool_calls: 1,
  });
  const bad = await runtime.spawn({ kind: "claude_code", prompt: "fail", restart: "temporary" });
  expect(await runtime.wait(bad.id)).toMatchObject({ status: "failed", error: { code: "BUDGET_EXCEEDED" } });
});

test("a timeout comes by the clock, and the signal ends the agent", async () => {
  const { runtime, clock, spawner } = await open({ script: (agent) => agent.sleep(3_600_000) });
  const { id } = await runtime.spawn({ kind: "command", argv: ["x"], timeout_ms: 60_000 });
  const waiting = runtime.wait(id, { timeout_ms: 30_000 });
  const late = expect(waiting).rejects.toMatchObject({ code: "TIMEOUT" });
  await clock.advance(31_000);
  await late;
  expect(await runtime.list()).toMatchObject([{ id, status: "running" }]);
  await clock.advance(31_000);
  expect(await runtime.wait(id)).toMatchObject({ status: "failed", signal: "SIGTERM" });
  expect(spawner.runs[0]?.signals).toEqual(["SIGTERM"]);
});

test("a script that throws ends its agent, and is told", async () => {
  const { runtime, reports } = await open({
    script: () => {
      throw new Error("a bug of the test");
    },
  });
  const { id } = await runtime.spawn({ kind: "command", argv: ["x"], name: "buggy" });
  expect(await runtime.wait(id)).toMatchObject({ status: "failed", exit_code: 1 });
  expect(reports).toEqual(["the script of buggy threw: Error: a bug of the test"]);
});

test("close ends what runs, and leaves nothing behind", async () => {
  const ours = () => readdirSync(tmpdir()).filter((name) => name.startsWith("holdfast-test-"));
  const before = ours();
  const { runtime, close } = await open({ script: (agent) => agent.sleep(1_000_000) });
  const { id } = await runtime.spawn({ kind: "claude_code", prompt: "x" });
  const read = collect(runtime.watch(id));
  await close();
  expect((await read).at(-1)?.type).toBe("worker_ended");
  expect(ours().filter((name) => !before.includes(name))).toEqual([]);
});

test("the snippet of docs/reference/library.md passes as it stands there, on the built package", async () => {
  const root = resolve(import.meta.dirname, "../..");
  const fences = readFileSync(join(root, "docs/reference/library.md"), "utf8").matchAll(
    /^```ts\n(.*?)^```/gms,
  );
  const [snippet] = [...fences].map(([, text = ""]) => text).filter((text) => text.includes("openForTest"));
  // Inside the package, so that its own name resolves.
  const folder = join(root, ".cache", "snippets-run");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "library.ts"), snippet ?? "");
  const { code, stdout } = await program(join(folder, "library.ts")).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/(pass|tests) 1\b/) });
});
