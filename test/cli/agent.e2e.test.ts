/** The command as people run it: real processes, a real daemon, signals. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { AGENT } from "../support/built.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
const start: Commands["start"] = (argv, env) => commands.start(argv, env);
const agent: Commands["agent"] = (...argv) => commands.agent(...argv);
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

describe("agent", () => {
  it("spawns, shows, waits and answers per id", async () => {
    const spawned = await start([
      "spawn",
      "--name",
      "talker",
      "-o",
      "text",
      "--",
      "sh",
      "-c",
      "echo hello; exit 3",
    ]).ended;
    expect(spawned).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}\n$/),
      stderr: "",
    });
    const id = spawned.stdout.trim();
    const waited = await agent("wait", "talker", "--timeout", "15s");
    expect(waited).toMatchObject({ exit: 2, error: { code: "AGENT_FAILED" } });
    expect(waited.meta.partial).toMatchObject({
      results: [{ id, status: "failed", exit_code: 3 }],
    });
    expect((await agent("wait", id, "--exit-code-from", id)).exit).toBe(3);
    expect(await agent("kill", "talker")).toMatchObject({
      exit: 0,
      data: { effect: "noop", results: [{ id, effect: "noop" }] },
    });
    expect(await agent("kill", "talker", "nobody")).toMatchObject({
      exit: 2,
      error: { code: "PARTIAL_FAILURE" },
    });
    const { stdout } = await start(["logs", "talker", "-o", "text"]).ended;
    expect(stdout).toMatch(/talker\.1 +│ hello\n/);
    expect(stdout).toContain("exited with code 3");
    expect((await agent("info", "nobody")).exit).toBe(5);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves the worker running after %s in watch, and says so", async (signal, exit) => {
    const name = `long-${exit}`;
    await agent("spawn", "--name", name, "--", "sh", "-c", "echo up; sleep 300");
    const watching = start(["watch", name, "--from", "0", "-o", "text"]);
    await until(() => watching.out().includes("│ up"));
    watching.child.kill(signal);
    const { exit: code, stderr } = await watching.ended;
    expect(code).toBe(exit);
    expect(stderr).toContain(`The worker keeps running. To end it: agent kill ${name}`);
    expect((await agent("info", name)).data.status).toBe("running");
    // Without -f, logs end where the log ends, whether the worker goes on or not.
    expect(await commands.text("logs", name)).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/│ up\n$/),
    });
    expect(await agent("kill", name, "--grace", "1s")).toMatchObject({
      exit: 0,
      data: { effect: "deleted" },
    });
  });

  it("ends a watch in json with one CANCELLED envelope", async () => {
    const watching = start(["watch", "--all", "--from", "0", "-o", "json"]);
    await until(() => watching.out().includes("\n"));
    watching.child.kill("SIGINT");
    const { exit, stdout } = await watching.ended;
    expect(exit).toBe(130);
    expect(ResponseEnvelope.parse(JSON.parse(stdout.trimEnd().split("\n").at(-1)!))).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
  });

  it("ends quietly with 0 when its reader goes away", async () => {
    const watching = start(["watch", "--all", "--from", "0", "-o", "json"]);
    await until(() => watching.out() !== "");
    const end = watching.ended;
    watching.child.stdout!.destroy();
    await agent("spawn", "--", "true");
    expect(await end).toMatchObject({ exit: 0, stderr: "" });
  });

  it("refuses to stop the daemon while agents run", async () => {
    await agent("spawn", "--name", "busy", "--", "sleep", "300");
    expect(await agent("daemon", "stop")).toMatchObject({ exit: 4, error: { code: "AGENTS_RUNNING" } });
    expect(await agent("kill", "--all", "--grace", "1s")).toMatchObject({ exit: 0 });
  });
});

describe("agent daemon", () => {
  it("starts once, and its second run is a conflict with one envelope", async () => {
    await agent("daemon", "start");
    expect((await agent("daemon", "start")).data.effect).toBe("noop");
    expect(await agent("daemon", "run")).toMatchObject({ exit: 6, error: { code: "LOCK_HELD" } });
  });

  it("in the foreground ends with one envelope on stdout, its log on stderr", async () => {
    const other = makeCommands();
    try {
      const running = other.start(["daemon", "run", "-o", "json"]);
      await until(() => running.err().includes("listening"));
      running.child.kill("SIGTERM");
      const { exit, stdout } = await running.ended;
      expect(exit).toBe(0);
      expect(ResponseEnvelope.parse(JSON.parse(stdout))).toMatchObject({ ok: true, data: {} });
    } finally {
      await other.close();
    }
  });
});

describe("workers", () => {
  it("of an agent that runs agent spawn live under the same daemon, below it, and end with its subtree", async () => {
    const inner = [process.execPath, AGENT, "spawn", "--name", "child", "--", "sleep", "300"];
    await agent("spawn", "--name", "parent", "--", "sh", "-c", '"$@"; sleep 300', "sh", ...inner);
    await until(async () => (await agent("info", "child")).exit === 0);
    const { children } = (await agent("tree")).data as {
      children: { name: string; children: { name: string }[] }[];
    };
    const parent = children.find(({ name }) => name === "parent")!;
    expect(parent.children.map(({ name }) => name)).toEqual(["child"]);
    const { results } = (await agent("kill", "parent", "--subtree", "--grace", "1s")).data as {
      results: { name: string; effect: string }[];
    };
    expect(results.map(({ name, effect }) => [name, effect]).sort()).toEqual([
      ["child", "deleted"],
      ["parent", "deleted"],
    ]);
  });

  it("read lines that agent send sends, and say what they read", async () => {
    await agent("spawn", "--name", "reader", "-i", "--", "sh", "-c", 'while read l; do echo "got $l"; done');
    expect((await agent("send", "reader", "hello there")).exit).toBe(0);
    await until(async () => (await agent("output", "reader")).data?.text === "got hello there\n");
    expect(await agent("kill", "reader", "--grace", "1s")).toMatchObject({ exit: 0 });
    const { stdout } = await commands.text("logs", "reader", "--tail", "2");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toContain("cancelled: Killed by user.");
  });

  it("that were killed while they backed off are cancelled, and wait says so", async () => {
    await agent("spawn", "--name", "crasher", "--restart", "permanent", "--backoff", "1m", "--", "false");
    await until(async () => (await agent("info", "crasher")).data.state === "backing_off");
    expect((await agent("kill", "crasher")).exit).toBe(0);
    expect((await agent("wait", "crasher")).error).toMatchObject({
      code: "WORKER_CANCELLED",
      message: "crasher was cancelled: Killed before its next start.",
    });
  });

  it("are refused by name, and by a prefix of several ids", async () => {
    for (const name of ["one", "two"]) await agent("spawn", "--name", name, "--", "sleep", "300");
    expect(await agent("spawn", "--name", "one", "--", "true")).toMatchObject({
      exit: 6,
      error: { code: "ALREADY_EXISTS" },
    });
    const { data } = await agent("info", "one");
    const ambiguous = await agent("info", String(data.id).slice(0, 4));
    expect(ambiguous).toMatchObject({ exit: 3, error: { code: "AMBIGUOUS_ID" } });
    expect((await agent("spawn", "--", "no-such-program")).error).toMatchObject({
      code: "BINARY_NOT_FOUND",
      suggestion: "Check its spelling, or give its path.",
    });
    await agent("kill", "--all", "--grace", "1s");
  });
});

it("a secret is neither shown, nor in the log, nor in the database", async () => {
  const secrets = {
    byKey: "sk-ant-SECRET0123456789abcdef",
    byName: "plain-secret-value",
    byReference: "referred-secret-value",
  };
  const flags = [
    "--env",
    `API_KEY=${secrets.byKey}`,
    "--env",
    `MY_TOKEN=${secrets.byName}`,
    "--env",
    "DB=@env:OTHER",
  ];
  const script = ["--", "sh", "-c", "echo $API_KEY $MY_TOKEN $DB; sleep 300"];
  const run = (argv: string[]) =>
    start(["-o", "json", "spawn", ...argv], { OTHER: secrets.byReference }).ended;
  const shown = [
    await run(["--dry-run", ...flags, ...script]),
    await run(["--name", "holder", ...flags, ...script]),
  ];
  expect(shown.map(({ exit }) => exit)).toEqual([0, 0]);
  await until(async () => (await agent("output", "holder")).exit === 0);
  for (const argv of [["list"], ["info", "holder"], ["tree"], ["logs", "holder"], ["output", "holder"]])
    for (const mode of ["text", "json", "ndjson"]) shown.push(await start([...argv, "-o", mode]).ended);
  for (const file of readdirSync(commands.home, { withFileTypes: true }))
    if (file.isFile())
      shown.push({ exit: 0, stdout: readFileSync(join(commands.home, file.name), "latin1"), stderr: "" });
  for (const { stdout, stderr } of shown)
    for (const secret of Object.values(secrets)) expect((stdout + stderr).includes(secret)).toBe(false);
  await agent("kill", "--all", "--grace", "1s");
});

describe("agent demo", () => {
  /** A temporary directory of its own: other demos may run on this machine. */
  let tmp: string;
  beforeAll(() => {
    tmp = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  });
  afterAll(() => rmSync(tmp, { recursive: true, force: true }));
  const demos = (): string[] => readdirSync(tmp).filter((name) => name.startsWith("holdfast-demo-"));

  it("shows a crash, a come-back and nothing left behind by itself, and removes all of it", async () => {
    const begun = performance.now();
    const { exit, stdout, stderr } = await start(["demo", "-o", "json"], { TMPDIR: tmp }).ended;
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    // Under 15 s on a machine of its own; this one may be busy.
    expect(performance.now() - begun).toBeLessThan(60_000);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      data: { started: 4, exited: 4, restarts: 1, gaps: 0, left_behind: 0 },
    });
    expect(lines.slice(0, -1).map((record) => record.seq)).toEqual(
      lines.slice(0, -1).map((_, index) => index + 1),
    );
    expect(demos()).toEqual([]);
  });

  it("cleans up when it is stopped in the middle", async () => {
    const running = start(["demo", "-o", "json"], { TMPDIR: tmp });
    await until(() => running.out().includes('"worker_spawned"'));
    expect(demos()).toHaveLength(1);
    running.child.kill("SIGINT");
    expect((await running.ended).exit).toBe(130);
    expect(demos()).toEqual([]);
  });
});
