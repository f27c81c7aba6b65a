/** Kind acp as a person uses it, with an agent that is built on the official SDK of the protocol. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/acp-agent.mjs");

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const fileOf = (name: string): string => join(commands.home, `ledger-${name}`);
/** The agent's requests: "INCARNATION METHOD WHAT" a line. */
const ledgerOf = (name: string): readonly string[] =>
  existsSync(fileOf(name)) ? readFileSync(fileOf(name), "utf8").split("\n").slice(0, -1) : [];
const spawn = async (name: string, prompt: string, ...flags: string[]) => {
  // Each agent calls its first session the same: it is another one in another HOME.
  const own = ["--name", name, "--env", `LEDGER=${fileOf(name)}`, "--env", `HOME=${fileOf(name)}.home`];
  const spawned = await commands.agent(
    "spawn",
    "acp",
    prompt,
    ...own,
    ...flags,
    "--",
    process.execPath,
    AGENT,
  );
  expect(spawned).toMatchObject({ exit: 0, error: null });
};
const info = async (name: string) => (await commands.agent("info", name)).data as { [key: string]: unknown };
const outputOf = async (name: string) =>
  ((await commands.agent("output", name)).data as { text: string }).text;
const wait = async (name: string): Promise<number | null> => (await commands.agent("wait", name)).exit;
const isAsked = (name: string) =>
  until(async () => {
    const { data } = await commands.agent("approvals");
    return (data as unknown as readonly { worker: string }[]).some(({ worker }) => worker === name);
  });

describe("an agent that speaks ACP", () => {
  it("is given its prompt in a session of its own, and ends with its answer", async () => {
    await spawn("plain", "hello", "--model", "fancy");
    expect(await wait("plain")).toBe(0);
    expect(await outputOf("plain")).toBe("heard hello");
    expect(ledgerOf("plain")).toEqual([
      "1 initialize 1",
      expect.stringMatching(/^1 new \//),
      "1 option the-model=fancy",
      "1 prompt hello",
    ]);
    expect(await info("plain")).toMatchObject({ session_id: "session-1", turns: 1 });
  });

  it("answers one message after the other", async () => {
    await spawn("talker", "work", "-i");
    await until(async () => ledgerOf("talker").includes("1 prompt work"));
    expect((await commands.agent("send", "talker", "second")).exit).toBe(0);
    expect(ledgerOf("talker")).not.toContain("1 prompt second");
    writeFileSync(`${fileOf("talker")}.go`, "");
    expect((await commands.agent("ask", "talker", "third", "--timeout", "30s")).data).toMatchObject({
      text: "heard third",
    });
    expect(ledgerOf("talker").filter((line) => line.includes("prompt"))).toEqual([
      "1 prompt work",
      "1 prompt second",
      "1 prompt third",
    ]);
    expect((await commands.agent("send", "talker", "--close")).exit).toBe(0);
    expect(await wait("talker")).toBe(0);
  });

  it("asks for a permission: a person allows it, or it is denied by its spec; never for longer than the call", async () => {
    await spawn("fixer", "ask nicely", "--permission", "ask");
    await isAsked("fixer");
    await commands.agent("approvals", "approve", "fixer");
    await spawn("guest", "ask nicely");
    expect([await wait("fixer"), await wait("guest")]).toEqual([0, 0]);
    expect(ledgerOf("fixer")).toContain("1 permission yes");
    expect(await outputOf("fixer")).toBe("was allowed");
    expect(ledgerOf("guest")).toContain("1 permission no");
    expect(await outputOf("guest")).toBe("was refused");
  });

  it("has its answer over a daemon that was killed with -9 in between", async () => {
    await spawn("steady", "ask nicely", "--permission", "ask");
    await isAsked("steady");
    const { data } = await commands.agent("daemon", "status");
    process.kill((data as { pid: number }).pid, "SIGKILL");
    await commands.agent("daemon", "start");
    expect((await commands.agent("approvals", "approve", "steady")).exit).toBe(0);
    expect(await wait("steady")).toBe(0);
    expect(ledgerOf("steady")).toEqual([
      "1 initialize 1",
      expect.stringMatching(/^1 new \//),
      "1 prompt ask nicely",
      "1 permission yes",
    ]);
  });

  it("has its turn cancelled, and goes on in its session", async () => {
    await spawn("slow", "hang", "-i");
    await until(async () => ledgerOf("slow").includes("1 prompt hang"));
    await until(async () => (await info("slow")).turns === 0);
    await until(async () => (await commands.agent("cancel", "slow")).data?.effect === "updated");
    await until(async () => ledgerOf("slow").includes("1 cancel session-1"));
    expect((await commands.agent("ask", "slow", "still there", "--timeout", "30s")).data).toMatchObject({
      text: "heard still there",
    });
    // The next turn can be cancelled like the first.
    await commands.agent("send", "slow", "hang again");
    await until(async () => ledgerOf("slow").includes("1 prompt hang again"));
    await until(async () => (await commands.agent("cancel", "slow")).data?.effect === "updated");
    await until(async () => ledgerOf("slow").filter((line) => line.includes("cancel")).length === 2);
    await commands.agent("kill", "slow");
  });

  it("that crashes in the middle of a turn goes on in its session, and does not begin again", async () => {
    await spawn("frail", "hello", "-i", "--restart", "permanent", "--backoff", "1ms..1ms");
    await until(async () => (await info("frail")).turns === 1);
    await commands.agent("send", "frail", "die");
    await until(async () => ledgerOf("frail").includes("2 load session-1"));
    expect((await commands.agent("ask", "frail", "hello", "--timeout", "30s")).data).toMatchObject({
      text: "heard hello",
    });
    expect(ledgerOf("frail").filter((line) => line.startsWith("2"))).toEqual([
      "2 initialize 1",
      "2 load session-1",
      "2 prompt hello",
    ]);
    // The turn that it had begun is not given to it again.
    expect(ledgerOf("frail").filter((line) => line.includes("prompt die"))).toEqual(["1 prompt die"]);
    expect(await outputOf("frail")).not.toContain("an answer of before");
    await commands.agent("kill", "frail");
  });

  it("is refused what is not offered, and its failures have their codes", async () => {
    await spawn("reader", "read /etc/hostname");
    await spawn("limited", "fail 429", "--restart", "temporary");
    await spawn("lost", "hello", "--session", "nowhere", "--restart", "temporary");
    await spawn("old", "hello", "--session", "some", "--env", "ACP_FLAWS=no-load", "--restart", "temporary");
    await spawn("stranger", "hello", "--env", "ACP_FLAWS=login", "--restart", "temporary");
    await spawn(
      "plain-one",
      "hello",
      "--env",
      "ACP_FLAWS=no-models",
      "--model",
      "x",
      "--restart",
      "temporary",
    );
    const names = ["limited", "lost", "old", "stranger", "plain-one"];
    await Promise.all([wait("reader"), ...names.map(wait)]);
    expect(await outputOf("reader")).toBe("refused with -32601");
    const codes = await Promise.all(
      names.map(async (name) => ((await info(name)).error as { code: string }).code),
    );
    expect(codes).toEqual([
      "RATE_LIMITED",
      "SESSION_NOT_FOUND",
      "SESSION_NOT_FOUND",
      "TOKEN_MISSING",
      "INVALID_REQUEST",
    ]);
  });
});

describe("mistakes are told before anything starts", () => {
  it.each([
    [["acp", "hi"], "Kind acp needs its agent's program after --"],
    [["acp:gemni", "hi"], "did you mean acp:gemini"],
    [["acp:gemini"], "needs a PROMPT"],
    [["acp:gemini", "hi", "--fork"], "--fork means nothing"],
    [["acp", "hi", "--ext", 'backend.acp.agent.v1="nobody"'], "it is one of gemini"],
  ])("agent spawn %j", async (argv, words) => {
    const { exit, error } = await commands.agent("spawn", ...argv);
    expect(exit).toBe(3);
    expect(JSON.stringify(error)).toContain(words);
  });

  it("a named agent that is not installed", async () => {
    const { exit, error } = await commands.agent("spawn", "acp:codex", "hi", "--env", "PATH=/nowhere");
    expect([exit, JSON.stringify(error)]).toEqual([
      expect.any(Number),
      expect.stringContaining("CODEX_ACP_BINARY"),
    ]);
  });
});
