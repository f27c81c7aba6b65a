/** Asking and answering as a person does it: spawn, see what is asked in a second terminal, approve or deny; end a turn. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/converses.mjs");

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

/** Spawns one that asks for its Door; the file in which it writes what it was told. */
const spawnAsking = async (name: string, ...flags: string[]): Promise<() => string> => {
  const ledger = join(commands.home, name);
  const env = ["--env", `CLAUDE_BINARY=${AGENT}`, "--env", `LEDGER=${ledger}`];
  const spawned = await commands.agent("spawn", "claude", "permit", "--name", name, ...env, ...flags);
  expect(spawned).toMatchObject({ exit: 0, error: null });
  return () => readFileSync(ledger, "utf8");
};
const asked = async (name: string) => {
  const { data } = await commands.agent("approvals");
  return (data as unknown as readonly { worker: string }[]).find(({ worker }) => worker === name);
};
const untilAsked = (name: string) => until(async () => (await asked(name)) !== undefined);

it("a request is shown with what it is for, approved by the worker's name, and the run ends by itself", async () => {
  const ledger = await spawnAsking("fixer", "--permission", "ask");
  await untilAsked("fixer");
  expect(await asked("fixer")).toMatchObject({ tool: "Door", title: "opens a door", state: "open" });
  const shown = await commands.start(["approvals", "-o", "text"]).ended;
  expect(shown.stdout).toMatch(/fixer +Door +\S+ +denied in (9|10)m\S* +open it/);
  expect(await commands.agent("approvals", "approve", "fixer")).toMatchObject({
    exit: 0,
    data: { decision: "allow", effect: "updated" },
  });
  expect((await commands.agent("wait", "fixer")).exit).toBe(0);
  expect(ledger()).toContain("door 1 allow");
  expect((await commands.agent("output", "fixer")).data).toMatchObject({ text: "the door: allow" });
});

it("denied, it goes on without, and says so", async () => {
  const ledger = await spawnAsking("guest", "--permission", "ask");
  await untilAsked("guest");
  await commands.agent("approvals", "deny", "guest", "--reason", "closed today");
  expect((await commands.agent("wait", "guest")).exit).toBe(0);
  expect(ledger()).toContain("door 1 deny");
  const { data } = await commands.agent("approvals", "--all");
  expect(data).toContainEqual(
    expect.objectContaining({ worker: "guest", state: "denied", message: "closed today" }),
  );
  expect(await commands.agent("approvals", "approve", "guest")).toMatchObject({ exit: 6 });
});

it("a rule answers at once, and a deadline where nobody does", async () => {
  const byRule = await spawnAsking("ruled", "--allow-tool", "door(open *)");
  const late = await spawnAsking("late", "--permission", "ask", "--approval-within", "100ms");
  expect((await commands.agent("wait", "ruled", "late")).exit).toBe(0);
  expect(byRule()).toContain("door 1 allow");
  expect(late()).toContain("door 1 deny");
});

it("an answer reaches the agent over a daemon that was killed with -9 in between", async () => {
  const ledger = await spawnAsking("steady", "--permission", "ask");
  await untilAsked("steady");
  const { data } = await commands.agent("daemon", "status");
  process.kill((data as { pid: number }).pid, "SIGKILL");
  await commands.agent("daemon", "start");
  expect((await commands.agent("approvals", "approve", "steady")).exit).toBe(0);
  expect((await commands.agent("wait", "steady")).exit).toBe(0);
  expect(ledger()).toContain("door 1 allow");
});

it("a turn of a conversation is ended, and the conversation goes on", async () => {
  const ledger = join(commands.home, "talker");
  const env = ["--env", `CLAUDE_BINARY=${AGENT}`, "--env", `LEDGER=${ledger}`];
  await commands.agent("spawn", "claude", "work", "-i", "--name", "talker", ...env);
  await until(async () => ((await commands.agent("info", "talker")).data as { turns: number }).turns === 0);
  await until(async () => {
    const { data } = await commands.agent("messages", "talker");
    return (data as unknown as readonly { state: string }[])[0]?.state === "acknowledged";
  });
  expect(await commands.agent("cancel", "talker")).toMatchObject({ exit: 0, data: { effect: "updated" } });
  const { data } = await commands.agent("ask", "talker", "hello", "--timeout", "20s");
  expect(data).toMatchObject({ text: "heard hello" });
  expect(await commands.agent("cancel", "talker")).toMatchObject({ data: { effect: "noop" } });
  await commands.agent("kill", "talker");
});

it("mistakes are told before anything starts", async () => {
  const bad = await commands.agent("spawn", "claude", "x", "--allow-tool", "two words");
  expect(bad).toMatchObject({ exit: 3 });
  const gemini = await commands.agent("spawn", "gemini", "x", "--permission", "ask");
  expect(gemini).toMatchObject({ exit: 3 });
  expect(await commands.agent("approvals", "approve", "nobody")).toMatchObject({ exit: 5 });
});
