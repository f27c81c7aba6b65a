/** Commands on the daemon of another host: state directories of this machine, each behind a program, as a host is. Real processes. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandLine } from "../../src/base/shell.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { RUN_THERE } from "../../src/commands/hosts.ts";
import { AGENT } from "../support/built.ts";
import { type Answer, type Commands, makeCommands, until } from "./support/commands.ts";

let here: Commands;
let there: Commands;
let host: string;
/** `agent` is a word of the path there. */
const pathOf = (commands: Commands): string => `${join(commands.home, "bin")}:${process.env.PATH}`;

beforeAll(async () => {
  [here, there] = [makeCommands(), makeCommands()];
  mkdirSync(join(there.home, "bin"));
  symlinkSync(AGENT, join(there.home, "bin/agent"));
  host = `exec:env HOLDFAST_HOME=${there.home} PATH=${pathOf(there)}`;
  await there.agent("spawn", "--name", "runs", "--", "sleep", "1000");
  await there.agent("spawn", "--name", "counts", "--", "sh", "-c", "seq 400; exit 3");
  await there.agent("wait", "counts");
});
afterAll(async () => {
  await there.close();
  await here.close();
});

/** Without what differs between two calls: times and ids of requests. */
const steady = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, member) =>
      /(_ms|_s|request_id|heartbeat_at)$/.test(key) ? undefined : member,
    ),
  );

const ARG_ERROR = 3;

/** Without the words that name the host: the beginning of an error, and `--host` in what it advises. */
const unnamed = (answer: Answer): Answer => {
  const { error, exit } = answer;
  if (error === null) return answer;
  const isNamed = error.message.startsWith(`${host}: `);
  // A mistake in the arguments may be found before the host is asked.
  expect(isNamed || exit === ARG_ERROR).toBe(true);
  const message = isNamed ? error.message.slice(`${host}: `.length) : error.message;
  const suggestion = error.suggestion?.replaceAll(` ${commandLine(["--host", host])}`, "");
  return { ...answer, error: { ...error, message, suggestion } };
};

/** Words that make a call of each command whose reply is one envelope. */
const READS = COMMANDS.filter(
  ({ command, danger, stream }) => danger === "safe" && stream === false && !RUN_THERE.has(command),
).map(({ command, words, args }) => ({
  command,
  words: [
    ...words,
    ...args.flatMap(({ required, complete }) => (complete === "worker" ? ["counts"] : required ? ["x"] : [])),
  ],
}));
/** They tell of the daemon itself, which changes with each request; or they never end. */
const CHANGES: readonly string[] = ["daemon/status", "agent/top"];

describe("a read through --host", () => {
  it("is tried for each command that can have it", () => {
    expect(READS.length).toBeGreaterThan(25);
  });

  it.each(READS.filter(({ command }) => !CHANGES.includes(command)))(
    "$command answers as it does there",
    async ({ words }) => {
      const [direct, through] = await Promise.all([
        there.agent(...words),
        here.agent("--host", host, ...words),
      ]);
      const of = ({ exit, data, error, warnings }: Answer) => steady({ exit, data, error, warnings });
      expect(of(unnamed(through))).toEqual(of(direct));
    },
  );

  it("tells the status of that daemon", async () => {
    const { data } = await here.agent("--host", host, "daemon", "status");
    expect(data.pid).toBe(await there.daemonPid());
  });

  it("starts no daemon here", async () => {
    expect((await here.agent("daemon", "status")).error?.code).toBe("SUPERVISOR_DOWN");
  });
});

describe("a command through --host", () => {
  it("renames and kills the worker there", async () => {
    await there.agent("spawn", "--name", "doomed", "--", "sleep", "1000");
    await here.agent("--host", host, "rename", "doomed", "gone");
    expect((await here.agent("--host", host, "kill", "gone")).exit).toBe(0);
    expect((await there.agent("info", "gone")).data).toMatchObject({ state: "cancelled" });
  });

  it("finds the host by its name in config.yaml, and runs there as a whole by it too", async () => {
    writeFileSync(join(here.home, "config.yaml"), `hosts: { far: ${JSON.stringify(host)} }\n`);
    expect((await here.agent("--host", "far", "info", "runs")).data).toMatchObject({ state: "running" });
    const listed = await here.text("config", "list", "--host", "far");
    expect(listed.stdout).toBe((await there.text("config", "list")).stdout);
    const mistyped = await here.agent("--host", "fat", "list");
    expect(mistyped.error?.message).toContain('not "fat"');
    expect(mistyped.error?.message).toContain("did you mean far?");
    writeFileSync(join(here.home, "config.yaml"), "hosts: { far: far }\n");
    const wrong = await here.agent("--host", "far", "list");
    expect(wrong.error?.message).toContain("hosts.far: it is neither ssh://");
    rmSync(join(here.home, "config.yaml"));
  });

  it("takes the state directory there", async () => {
    const bare = `exec:env PATH=${pathOf(there)}`;
    const { data } = await here.agent("--host", bare, "--state-dir", there.home, "info", "runs");
    expect(data).toMatchObject({ name: "runs", state: "running" });
  });

  it("that needs a machine runs there as a whole, with its words, its exit code and its way of printing", async () => {
    const argv = [
      "spawn",
      "--name",
      "new",
      "--wait",
      "--",
      "sh",
      "-c",
      'echo "$1"; exit 7',
      "sh",
      "two  words",
    ];
    const { exit, error } = await here.agent("--host", host, ...argv);
    expect([exit, error?.code]).toEqual([2, "AGENT_FAILED"]);
    expect((await there.text("output", "new")).stdout).toBe("two  words\n");
    const asked = await here.text("--host", host, "config", "list");
    expect(asked.stdout).toBe((await there.text("config", "list")).stdout);
    const mistaken = await here.agent(`--host=${host}`, "spawn");
    expect(mistaken.error).toEqual((await there.agent("spawn")).error);
  });

  it("that needs a machine says so if that cannot be reached", async () => {
    const { exit, error } = await here.agent("--host", "exec:/nonexistent", "doctor");
    expect([exit, error?.code]).toEqual([12, "UNAVAILABLE"]);
    expect(error?.message).toContain("/nonexistent");
  });
});

describe("a host that cannot be reached", () => {
  it.each([
    ["no host", "build", 3, "--host is ssh://[USER@]MACHINE[:PORT]"],
    ["an empty name", "local,", 3, "is a variable empty?"],
    ["no program", "exec:/nonexistent", 12, "/nonexistent"],
    ["a program that ends", "exec:false", 12, "gives no connection to a daemon"],
    ["a program that says something else", "exec:echo", 12, "gives no connection to a daemon"],
  ])("by %s is said in one sentence, with the next step", async (_, address, exit, words) => {
    const ran = await here.agent("--host", address, "list");
    expect(ran.exit).toBe(exit);
    expect(ran.error?.message).toContain(words);
    expect(ran.error?.suggestion).not.toBe("");
  });

  it("for want of a daemon tells what to start", async () => {
    const empty = `exec:env HOLDFAST_HOME=${join(there.home, "empty")} PATH=${pathOf(there)}`;
    const { error } = await here.agent("--host", empty, "list");
    expect(error?.code).toBe("SUPERVISOR_DOWN");
    expect(error?.suggestion).toContain(`agent ${commandLine(["--host", empty])} daemon start`);
  });
});

describe("a connection that is cut", () => {
  const CUTS = 24;

  it(`${CUTS} times in the middle of a watch loses and doubles no record`, async () => {
    const dir = join(here.home, "cutting");
    mkdirSync(dir);
    const cutting = `exec:${process.execPath} ${join(import.meta.dirname, "../fixtures/hosts/cuts.mjs")} ${dir} ${CUTS} ${host.slice("exec:".length)}`;
    const words = ["watch", "counts", "--from", "0", "-o", "ndjson"];
    const [whole, cut] = await Promise.all([
      there.start(words).ended,
      here.start(["--host", cutting, ...words]).ended,
    ]);
    const recordsOf = ({ stdout }: { readonly stdout: string }) =>
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
        .filter(({ status }) => status === "progress")
        .map(({ data }) => data);
    expect(recordsOf(cut)).toEqual(recordsOf(whole));
    expect(cut.exit).toBe(whole.exit);
    expect(readFileSync(join(dir, "cuts"), "utf8").trimEnd().split("\n").length).toBeGreaterThan(CUTS);
    rmSync(dir, { recursive: true });
  });

  it("with its daemon is made again: the wait goes on with the next daemon", async () => {
    await there.agent(
      "spawn",
      "--name",
      "waited",
      "--",
      "sh",
      "-c",
      "until [ -e done ]; do sleep 0.05; done",
      "--cwd",
      there.home,
    );
    const waiting = here.start(["--host", host, "wait", "waited", "-o", "json"]);
    await until(async () => (await there.agent("daemon", "status")).data.requests_in_flight === 3);
    await there.killDaemon();
    await until(() => waiting.err().includes("is gone; its agents keep running. Connecting again."));
    await there.agent("daemon", "start");
    await until(() => waiting.err().includes("The host answers again."));
    await there.agent("kill", "waited");
    expect(JSON.parse((await waiting.ended).stdout)).toMatchObject({
      error: { code: "WORKER_CANCELLED" },
    });
  });
});
