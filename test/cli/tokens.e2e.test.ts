/** Tokens with names as people use them: made once, presented by a variable or a file, found in records, revoked. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LogRecord } from "../../src/protocol/records.ts";
import { AGENT } from "../support/built.ts";
import { type Commands, type Ended, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

const as = async (secret: string, ...argv: string[]): Promise<Ended & { readonly code?: string }> => {
  const ended = await commands.start(["-o", "json", ...argv], { HOLDFAST_TOKEN: secret }).ended;
  const { error } = JSON.parse(ended.stdout.trimEnd().split("\n").at(-1) as string);
  return { ...ended, code: error?.code };
};

/** The `by` of each record of the log that has this type. */
const byOf = async (type: LogRecord["type"]): Promise<readonly (string | undefined)[]> => {
  const { stdout } = await commands.start(["db", "export", "-o", "ndjson"]).ended;
  return stdout
    .split("\n")
    .filter((line) => line.includes(`"type":"${type}"`))
    .map((line) => JSON.parse(line))
    .map((line) => (line.data ?? line).payload.by);
};

const made = async (name: string, ...flags: string[]): Promise<string> => {
  const ended = await commands.text("token", "create", name, ...flags);
  expect(ended).toMatchObject({ exit: 0 });
  return ended.stdout.trim();
};

describe("the secret", () => {
  it("is printed alone, once, in text, and stands in no envelope, no list and no record", async () => {
    const secret = await made("alice", "--expires", "30d");
    expect(secret).toMatch(/^hft_[0-9a-f]{64}$/);
    const listed = await commands.text("token", "list");
    expect(listed.stdout).toMatch(/alice +in (30d|29d23h)/);
    const { data } = await commands.agent("token", "list");
    expect(data).toMatchObject([{ name: "alice", by: "user", expired: false }]);
    const log = await commands.start(["db", "export", "-o", "ndjson"]).ended;
    expect(log.stdout).toContain('"token_created"');
    for (const text of [listed.stdout, JSON.stringify(data), log.stdout]) expect(text).not.toContain(secret);
  });

  it("needs a file in the JSON modes, which only its owner may read and which is never written over", async () => {
    const refused = await commands.agent("token", "create", "bob");
    expect(refused).toMatchObject({ exit: 3, error: { code: "INVALID_REQUEST" } });
    const file = join(commands.home, "bob.token");
    expect(await commands.agent("token", "create", "bob", "--to", file)).toMatchObject({
      exit: 0,
      data: { name: "bob", file, effect: "created", expires_at: null },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const secret = readFileSync(file, "utf8");
    expect((await commands.agent("token", "create", "robert", "--to", file)).exit).toBe(3);
    expect(readFileSync(file, "utf8")).toBe(secret);
  });

  it("leaves no file where the token was refused", async () => {
    const file = join(commands.home, "again.token");
    const refused = await commands.agent("token", "create", "bob", "--to", file);
    expect(refused.error).toMatchObject({ code: "ALREADY_EXISTS" });
    expect(existsSync(file)).toBe(false);
  });
});

describe("a client that presents a token", () => {
  it("is user:NAME in the records of all that it does", async () => {
    const carol = await made("carol");
    const run = (...argv: string[]) =>
      as(carol, ...argv).then((ended) => expect(ended).toMatchObject({ exit: 0 }));
    await run("spawn", "--name", "sleeper", "--", "sleep", "1d");
    await run("pause", "sleeper");
    await run("unpause", "sleeper");
    await run("mailbox", "send", "sleeper", "hello");
    await run("bb", "post", "work");
    await run("board", "add", "GH-1", "Fix it");
    await run("schedule", "add", "yearly", "@yearly", "--", "true");
    await run("kill", "sleeper");
    await run("archive", "sleeper");
    for (const type of [
      "worker_spawn_requested",
      "worker_paused",
      "worker_unpaused",
      "mailbox_sent",
      "bb_posted",
      "issue.discovered",
      "schedule_set",
      "worker_cancel_requested",
      "worker_archived",
    ] as const)
      expect([type, (await byOf(type)).at(-1)]).toEqual([type, "user:carol"]);
    const { stdout } = await commands.text("why", "sleeper");
    expect(stdout).toContain("user:carol");
  });

  it("is refused once the token is revoked, on the connection that it has, too", async () => {
    const dave = await made("dave");
    const watch = commands.start(["-o", "ndjson", "mailbox", "poll", "--wait", "--timeout", "60s"], {
      HOLDFAST_TOKEN: dave,
    });
    expect((await as(dave, "list")).exit).toBe(0);
    expect((await commands.agent("token", "revoke", "dave")).exit).toBe(0);
    expect(await as(dave, "list")).toMatchObject({ exit: 8, code: "NOT_AUTHORISED" });
    expect(await as(`hft_${"0".repeat(64)}`, "list")).toMatchObject({ exit: 8, code: "NOT_AUTHORISED" });
    expect(await as("anything", "list")).toMatchObject({ exit: 8, code: "NOT_AUTHORISED" });
    expect((await commands.agent("token", "revoke", "dave")).error).toMatchObject({
      code: "TOKEN_NOT_FOUND",
    });
    watch.child.kill();
    await watch.ended;
  });

  it("loses its name with the token, though the connection has presented the daemon's own", async () => {
    const judy = await made("judy");
    const own = readFileSync(join(commands.home, "daemon.token"), "utf8").trim();
    const socket = connect(join(commands.home, "agent.sock"));
    const answers = createInterface(socket)[Symbol.asyncIterator]();
    const post = async (token: string) => {
      const said = { version: 1, command: "bb/post", data: { title: "x" }, meta: { token } };
      socket.write(`${JSON.stringify(said)}\n`);
      return (await answers.next()).value as string;
    };
    expect(await post(judy)).toContain('"status":"ok"');
    expect(await post(own)).toContain('"status":"ok"');
    expect((await byOf("bb_posted")).slice(-2)).toEqual(["user:judy", "user:judy"]);
    expect((await commands.agent("token", "revoke", "judy")).exit).toBe(0);
    expect(await post(own)).toContain("EAUTH");
    socket.destroy();
  });

  it("is refused once the token has expired, and the name is free again", async () => {
    const first = await made("erin", "--expires", "1s");
    await until(async () => (await as(first, "list")).exit === 8);
    expect((await commands.text("token", "list")).stdout).toMatch(/erin +expired/);
    const second = await made("erin");
    expect((await as(second, "list")).exit).toBe(0);
  });

  it("names the file that holds it, which others may not read", async () => {
    const file = join(commands.home, "frank.token");
    await made("frank", "--to", file);
    const run = () => commands.start(["bb", "post", "by file"], { HOLDFAST_TOKEN_FILE: file }).ended;
    expect((await run()).exit).toBe(0);
    expect((await byOf("bb_posted")).at(-1)).toBe("user:frank");
    chmodSync(file, 0o644);
    const open = await run();
    expect(open.exit).not.toBe(0);
    expect(open.stdout).toContain("chmod 600");
    writeFileSync(file, "");
    expect((await run()).stdout).toContain("cannot be read");
  });

  it("is told by its place if it is too long for a token", async () => {
    const file = join(commands.home, "long.token");
    writeFileSync(file, "x".repeat(129), { mode: 0o600 });
    const byVariable = await as("x".repeat(129), "list");
    const byFile = await commands.start(["-o", "json", "list"], { HOLDFAST_TOKEN_FILE: file }).ended;
    const [ofVariable, ofFile] = [byVariable, byFile].map(({ stdout }) => JSON.parse(stdout).error);
    expect(ofVariable.message).toBe("HOLDFAST_TOKEN holds no token: it has more than 128 characters.");
    expect(ofFile.message).toBe(
      `HOLDFAST_TOKEN_FILE ${file} holds no token: it has more than 128 characters.`,
    );
    expect(byFile.exit).toBe(8);
    // One of 128 characters reaches the daemon, which does not know it.
    expect((await as("x".repeat(128), "list")).exit).toBe(8);
  });

  it("outlives the daemon", async () => {
    const grace = await made("grace");
    await commands.killDaemon();
    await commands.agent("daemon", "start");
    expect((await as(grace, "bb", "post", "after")).exit).toBe(0);
    expect((await byOf("bb_posted")).at(-1)).toBe("user:grace");
  });
});

describe("a worker's agent that presents a token", () => {
  it("stays the worker's agent: the same rights, and the worker in records", async () => {
    const heidi = await made("heidi");
    const out = join(commands.home, "agent.out");
    const agent = `${process.execPath} ${AGENT} -o json`;
    const script = `${agent} bb post inside > ${out}.post; ${agent} token create more --to ${out}.token > ${out}.token.json; ${agent} spawn -- true > ${out}.spawn; true`;
    const spawned = await commands.agent(
      ...["spawn", "--wait", "--max-depth", "3", "--env", `HOLDFAST_TOKEN=${heidi}`],
      ...["--env", `HOLDFAST_HOME=${commands.home}`, "--", "sh", "-c", script],
    );
    const worker = `worker:${spawned.data.id}`;
    expect(JSON.parse(readFileSync(`${out}.post`, "utf8"))).toMatchObject({ ok: true });
    expect((await byOf("bb_posted")).at(-1)).toBe(worker);
    expect((await byOf("worker_spawn_requested")).at(-1)).toBe(worker);
    // Its depth is bounded, so it makes no token either.
    expect(JSON.parse(readFileSync(`${out}.token.json`, "utf8")).error).toMatchObject({
      code: "POLICY_VIOLATION",
    });
  });

  it("never has the token of the client that spawned it", async () => {
    const ivan = await made("ivan");
    const ran = await as(ivan, "spawn", "--wait", "--name", "look", "--", "env");
    expect(ran.exit).toBe(0);
    expect((await commands.text("output", "look")).stdout).not.toContain("HOLDFAST_TOKEN");
  });
});
