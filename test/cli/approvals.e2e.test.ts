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

const openIdOf = async (name: string): Promise<string> => {
  await untilAsked(name);
  return ((await asked(name)) as unknown as { readonly approval_id: string }).approval_id;
};

it("a waiting command tells once on stderr that a permission is open, and how it is answered", async () => {
  await spawnAsking("slow", "--permission", "ask");
  const id = await openIdOf("slow");
  const waiting = commands.start(["wait", "slow"]);
  const told = `slow waits for a permission to use Door: agent approvals approve ${id} (or deny)`;
  await until(async () => waiting.err().includes(told));
  const spawned = commands.start(
    ["spawn", "claude", "permit", "--name", "next", "--permission", "ask", "--wait"].concat(
      ...[`CLAUDE_BINARY=${AGENT}`, `LEDGER=${join(commands.home, "next")}`].map((set) => ["--env", set]),
    ),
  );
  await until(async () => spawned.err().includes("next waits for a permission"));
  await commands.agent("approvals", "approve", "next");
  expect((await spawned.ended).exit).toBe(0);
  await commands.agent("approvals", "approve", id);
  const { exit, stderr } = await waiting.ended;
  expect(exit).toBe(0);
  expect(stderr.split(told)).toHaveLength(2);
  expect(stderr).not.toContain("next");
});

it("a command that waits for the end of a conversation tells once that it waits for a message, and how it ends", async () => {
  const env = ["--env", `CLAUDE_BINARY=${AGENT}`, "--env", `LEDGER=${join(commands.home, "chat")}`];
  const waiting = commands.start(["spawn", "claude", "hi", "-i", "--name", "chat", "--wait", ...env]);
  const told =
    "chat waits for a message, and does not end by itself: agent send chat TEXT, or agent send chat --close";
  await until(async () => waiting.err().includes(told));
  expect((await commands.agent("ask", "chat", "hello", "--timeout", "20s")).exit).toBe(0);
  const other = commands.start(["wait", "chat"]);
  await until(async () => other.err().includes(told));
  await commands.agent("send", "chat", "--close");
  expect((await other.ended).exit).toBe(0);
  const { exit, stderr } = await waiting.ended;
  expect(exit).toBe(0);
  expect(stderr.split(told)).toHaveLength(2);
});

it("a question is told of its permission, too", async () => {
  const env = ["--env", `CLAUDE_BINARY=${AGENT}`, "--env", `LEDGER=${join(commands.home, "asked")}`];
  await commands.agent("spawn", "claude", "-i", "--name", "asked", "--permission", "ask", ...env);
  const asking = commands.start(["ask", "asked", "permit", "-o", "text"]);
  await until(async () => asking.err().includes("asked waits for a permission to use Door"));
  await commands.agent("approvals", "approve", "asked");
  expect(await asking.ended).toMatchObject({ exit: 0, stdout: "the door: allow\n" });
  await commands.agent("kill", "asked");
});

it("one request is shown and answered by the beginning of its id; why and answer know of it", async () => {
  const ledger = await spawnAsking("named", "--permission", "ask");
  await spawnAsking("other", "--permission", "ask");
  const [id, other] = [await openIdOf("named"), await openIdOf("other")];
  expect((await commands.agent("approvals", "named")).data).toMatchObject([{ approval_id: id }]);
  expect((await commands.agent("approvals", id.slice(0, 12))).data).toMatchObject([{ approval_id: id }]);
  expect(await commands.agent("approvals", "nobody")).toMatchObject({
    exit: 5,
    error: { code: "WORKER_NOT_FOUND" },
  });
  const said = await commands.agent("answer", "named", "wait");
  expect(said).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
  expect(JSON.stringify(said.error)).toContain("agent answer named allow|deny");
  const shown = await commands.text("why", "named");
  expect(shown.stdout).toContain(`asks to use Door (open it): agent approvals approve|deny ${id}`);
  expect(await commands.agent("approvals", "approve", id.slice(0, 12).toLowerCase())).toMatchObject({
    exit: 0,
  });
  expect((await commands.agent("wait", "named")).exit).toBe(0);
  expect(ledger()).toContain("door 1 allow");
  expect((await commands.agent("approvals", "named")).data).toEqual([]);
  expect((await commands.agent("approvals", "named", "--all")).data).toMatchObject([{ state: "allowed" }]);
  expect((await commands.agent("approvals", id)).data).toMatchObject([{ state: "allowed" }]);
  expect((await commands.text("logs", "named")).stdout).toContain(
    "answer to its request for permission delivered",
  );
  await commands.agent("approvals", "deny", other);
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
  const pid = await commands.daemonPid();
  await commands.killDaemon();
  const suggestion =
    "The last one was killed. 1 worker goes on without it. Take over with: agent daemon start";
  expect(await commands.agent("approvals", "approve", "steady")).toMatchObject({
    exit: 4,
    error: { code: "SUPERVISOR_DOWN", suggestion },
  });
  const { checks } = (await commands.agent("doctor")).data as unknown as {
    readonly checks: readonly { readonly name: string; readonly result: string; readonly finding: string }[];
  };
  expect(checks.find(({ name }) => name === "daemon")).toMatchObject({
    result: "warn",
    finding: expect.stringContaining(`pid ${pid} is gone`),
    fix: "agent daemon start takes them over.",
  });
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
  expect((await commands.text("info", "talker")).stdout).toContain("open: agent send talker TEXT");
  await commands.agent("kill", "talker");
  await commands.agent("wait", "talker");
  expect((await commands.text("info", "talker")).stdout).not.toContain("agent send");
  expect(await commands.agent("cancel", "talker")).toMatchObject({
    exit: 6,
    error: {
      message: expect.stringContaining("has ended: it has no turn to cancel."),
      suggestion: "See what it did: agent logs talker",
    },
  });
});

it("mistakes are told before anything starts", async () => {
  const bad = await commands.agent("spawn", "claude", "x", "--allow-tool", "two words");
  expect(bad).toMatchObject({ exit: 3 });
  const gemini = await commands.agent("spawn", "gemini", "x", "--permission", "ask");
  expect(gemini).toMatchObject({ exit: 3 });
  expect(await commands.agent("approvals", "approve", "nobody")).toMatchObject({ exit: 5 });
});
