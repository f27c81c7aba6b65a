/** Sessions on the command line, with an agent that keeps them as Claude Code does: real daemon, real processes. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const AGENT = fileURLToPath(new URL("../fixtures/agents/remembers.mjs", import.meta.url));

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

/** The directory in which the sessions of one test live. */
const env = (place: string): readonly string[] => [
  "--env",
  `CLAUDE_BINARY=${AGENT}`,
  "--env",
  `CLAUDE_CONFIG_DIR=${join(commands.home, place)}`,
];
const spawn = (place: string, prompt: string, ...flags: string[]) =>
  commands.agent("spawn", "claude", prompt, ...env(place), "--wait", "--backoff", "0s..0s", ...flags);
const answerOf = async (id: unknown) => (await commands.agent("output", String(id))).data.text;
const sessionOf = async (id: unknown) => (await commands.agent("info", String(id))).data.session_id;

it("resumes by id and by name, forks, and says who holds a session", async () => {
  const first = await spawn("chain", "one", "--name", "chain");
  const session = await sessionOf(first.data.id);
  const second = await commands.agent("resume", "chain", "two", "--wait");
  expect(second.exit).toBe(0);
  expect(second.data).toMatchObject({ name: "chain", status: "completed" });
  expect(await answerOf(second.data.id)).toBe("one / two");
  expect(await sessionOf(second.data.id)).toBe(session);

  const branch = await commands.agent("fork", "chain", "three", "--wait", "--name", "branch");
  expect(await answerOf(branch.data.id)).toBe("one / two / three");
  expect(await sessionOf(branch.data.id)).not.toBe(session);
  const third = await commands.agent("resume", "chain", "four", "--wait");
  expect(await answerOf(third.data.id)).toBe("one / two / four");
});

it("goes on in a session of a kind, by its id and in the newest", async () => {
  const first = await spawn("of-a-kind", "one");
  const session = String(await sessionOf(first.data.id));
  const flags = [...env("of-a-kind"), "--wait"];
  const named = await commands.agent("resume", "claude", "two", "--session", session, ...flags);
  expect(await answerOf(named.data.id)).toBe("one / two");
  const last = await commands.agent("resume", "claude", "three", "--last", ...flags);
  expect(await answerOf(last.data.id)).toBe("one / two / three");
});

it("refuses what holds a session, what has none, and what cannot be told together", async () => {
  const held = await commands.agent(
    "spawn",
    "claude",
    "--interactive",
    "--name",
    "holder",
    "--env",
    `CLAUDE_BINARY=/bin/cat`,
    "--session",
    "s-held",
  );
  const taken = await commands.agent(
    "resume",
    "claude",
    "x",
    "--session",
    "s-held",
    "--env",
    "CLAUDE_BINARY=/bin/cat",
  );
  expect(taken.exit).toBe(6);
  expect(taken.error).toMatchObject({ code: "SESSION_IN_USE" });
  expect(taken.error!.message).toContain(String(held.data.id));
  const without = await commands.agent("spawn", "--wait", "--", "true");
  expect((await commands.agent("fork", String(without.data.id))).error).toMatchObject({
    code: "UNSUPPORTED_CAPABILITY",
  });
  const mistaken = await commands.agent("resume", "holder", "x", "--model", "m", "--cwd", "/");
  expect(mistaken.exit).toBe(3);
  expect((await commands.agent("resume", "claude", "x", "--session", "s", "--last")).exit).toBe(3);
  expect((await commands.agent("resume", "--last")).error?.message).toMatch(
    /^agent resume needs ID: [^.]*\.$/,
  );
  expect((await commands.agent("resume", "claude", "x")).error).toMatchObject({
    code: "WORKER_NOT_FOUND",
    message: 'No worker has the id or name "claude": it is a kind.',
    suggestion: expect.stringMatching(/^Add --last or --session/),
  });
});

it("starts fresh once where its own session is gone", async () => {
  const ran = await spawn("lost", "lose it", "--restart", "transient");
  expect(ran.data).toMatchObject({ status: "completed" });
  expect(await answerOf(ran.data.id)).toBe("lose it");
  const why = await commands.text("why", String(ran.data.id));
  expect(why.stdout).toContain("does not continue session");
  expect(why.stdout).toContain("started again, in a fresh session");
});

it("dies in the middle of a tool that only reads, and answers in the same session", async () => {
  const ran = await spawn("reads", "crash read", "--restart", "transient");
  expect(ran.data).toMatchObject({ status: "completed" });
  expect(await answerOf(ran.data.id)).toBe("crash read / crash read");
  const info = (await commands.agent("info", String(ran.data.id))).data;
  expect(info).toMatchObject({ incarnation: 2, restarts: 1 });
});

it("dies in the middle of a tool that may have changed something: somebody is asked, also over a restart of the daemon", async () => {
  const asked = await commands.agent(
    "spawn",
    "claude",
    "crash",
    "--name",
    "asked",
    "--restart",
    "transient",
    ...env("asked"),
  );
  await until(async () => (await commands.agent("info", "asked")).data.state === "waiting");
  expect((await commands.text("list")).stdout).toContain("waiting (its turn was interrupted while Bash ran");
  await commands.agent("daemon", "stop", "--keep-agents");
  await commands.agent("daemon", "start");
  expect((await commands.text("info", "asked")).stdout).toContain(
    "should it go on? agent answer asked continue|fresh|stop",
  );
  expect((await commands.agent("answer", "asked", "continue")).exit).toBe(0);
  expect((await commands.agent("wait", "asked")).exit).toBe(0);
  expect(await answerOf(asked.data.id)).toBe("crash / crash");
});

it("goes on or ends unasked where its policy says so", async () => {
  const goesOn = await spawn("goes-on", "crash", "--restart", "transient", "--on-interrupted", "continue");
  expect(await answerOf(goesOn.data.id)).toBe("crash / crash");
  const ends = await spawn(
    "ends",
    "crash",
    "--restart",
    "transient",
    "--on-interrupted",
    "never",
    "--name",
    "ends",
  );
  expect(ends.exit).toBe(2);
  expect((await commands.agent("info", "ends")).data).toMatchObject({
    state: "failed",
    reason: "interrupted_turn",
    incarnation: 1,
  });
});

it("rests while nobody talks to it, and wakes over a restart of the daemon with all that it knew", async () => {
  const talker = fileURLToPath(new URL("../fixtures/agents/converses.mjs", import.meta.url));
  const ledger = join(commands.home, "ledger");
  await commands.agent(
    "spawn",
    "claude",
    "hello",
    "--interactive",
    ...["--name", "rests", "--passivate", "1s"],
    ...["--env", `CLAUDE_BINARY=${talker}`, "--env", `LEDGER=${ledger}`],
  );
  const state = async () => (await commands.agent("info", "rests")).data;
  await until(async () => (await state()).state === "waiting");
  expect(await state()).toMatchObject({ reason: "passivated", pid: null, turns: 1, restarts: 0 });
  await commands.agent("daemon", "stop", "--keep-agents");
  await commands.agent("daemon", "start");
  const asked = await commands.agent("ask", "rests", "and now?");
  expect(asked.error).toBeNull();
  expect(asked.data.text).toBe("heard and now?");
  expect(await state()).toMatchObject({ incarnation: 2, turns: 2, restarts: 0 });
  expect((await commands.agent("spawn", "--passivate", "1s", "--", "cat")).exit).toBe(3);
});
