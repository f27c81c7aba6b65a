/** `agent db` and `agent doctor` where no daemon answers: what a person has when the log keeps the daemon from starting. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import SQLite from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DoctorReport } from "../../src/cli/reports.ts";
import { EventStreams } from "../../src/protocol/run-events/append.ts";
import type { StreamEvent, WorkerEvent } from "../../src/protocol/run-events/events.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("spawn", "--name", "one", "--", "echo", "hello");
  await commands.agent("wait", "one");
  await commands.agent("daemon", "stop");
  await until(() => !existsSync(join(commands.home, "holdfast.db-wal")));
});
afterAll(() => commands.close());

/** A state directory with the log of a daemon that has stopped after one worker's life. */
const stopped = async (): Promise<{ readonly agent: Commands["agent"]; readonly file: string }> => {
  const dir = mkdtempSync(join(commands.home, "copy-"));
  const file = join(dir, "holdfast.db");
  copyFileSync(join(commands.home, "holdfast.db"), file);
  return { agent: (...argv) => commands.agent("--state-dir", dir, ...argv), file };
};

/** If a check fails, the report is in the envelope's meta. */
const eventLogOf = ({ data, error, meta }: Awaited<ReturnType<Commands["agent"]>>) => {
  const { checks } = (error ? meta.partial : data) as DoctorReport;
  return checks.find(({ name }) => name === "event log");
};

it("a sound log is checked without a daemon, and none is started for it", async () => {
  const { agent } = await stopped();
  expect(await agent("db", "check")).toMatchObject({ exit: 0, data: { ok: true, findings: [] } });
  expect(eventLogOf(await agent("doctor"))).toMatchObject({ result: "ok" });
  expect(await agent("daemon", "status")).toMatchObject({ error: { code: "SUPERVISOR_DOWN" } });
});

it("a damaged record is named, the daemon does not start on it, and the file stays as it is", async () => {
  const { agent, file } = await stopped();
  const db = new SQLite(file);
  db.exec(
    "UPDATE records SET payload = replace(payload, '}', ' }') WHERE seq = (SELECT max(seq) FROM records)",
  );
  db.close();
  const before = readFileSync(file);
  const checked = await agent("db", "check");
  expect(checked).toMatchObject({ exit: 1, error: { code: "STORE_CORRUPT" } });
  expect(checked.error?.message).toMatch(/Record \d+ does not match its checksum/);
  expect(await agent("daemon", "start")).toMatchObject({ error: { code: "SUPERVISOR_DOWN" } });
  expect(eventLogOf(await agent("doctor"))).toMatchObject({
    result: "fail",
    finding: expect.stringMatching(/^Record \d+ of the event log does not match its checksum/),
  });
  expect(readFileSync(file).equals(before)).toBe(true);
});

it("a schema that is newer than this version is told, as the daemon tells it", async () => {
  const { agent, file } = await stopped();
  const db = new SQLite(file);
  db.pragma("user_version = 99");
  db.close();
  const sentence = "The event log has schema 99, but this version knows schemas only up to 3.";
  const checked = await agent("db", "check");
  expect(checked.error).toMatchObject({ code: "STORE_FAILED", message: sentence });
  const started = await agent("daemon", "start");
  expect(started.error?.message).toContain(sentence);
  expect(started.error?.suggestion).toContain(checked.error?.suggestion);
  expect(eventLogOf(await agent("doctor"))).toMatchObject({ result: "fail" });
});

it("a FIFO in the place of the log is refused at once, by a check, by doctor and by the daemon", async () => {
  const { agent, file } = await stopped();
  rmSync(file);
  execFileSync("mkfifo", [file]);
  const sentence = `${file} is not a regular file, so it is not an event log.`;
  expect((await agent("db", "check")).error?.message).toContain(sentence);
  expect((await agent("daemon", "start")).error?.message).toContain(sentence);
  expect(eventLogOf(await agent("doctor"))).toMatchObject({ result: "fail" });
});

it("a file that is no database is told, and kept", async () => {
  const { agent, file } = await stopped();
  writeFileSync(file, "somebody's notes\n".repeat(1_000));
  expect(await agent("db", "check")).toMatchObject({ exit: 1, error: { code: "STORE_CORRUPT" } });
  expect(eventLogOf(await agent("doctor"))).toMatchObject({ result: "fail" });
  expect(readFileSync(file, "utf8")).toMatch(/^somebody's notes/);
});

it("damaged tables are folded anew without a daemon", async () => {
  const { agent, file } = await stopped();
  const db = new SQLite(file);
  db.exec("UPDATE p_workers SET restarts = 7");
  db.close();
  expect(await agent("db", "check")).toMatchObject({ exit: 1, error: { code: "STORE_CORRUPT" } });
  expect(await agent("db", "rebuild")).toMatchObject({ exit: 0 });
  expect(await agent("db", "check")).toMatchObject({ exit: 0, data: { ok: true } });
});

it("old output is moved to an archive, and an export has it as before", async () => {
  const { agent, file } = await stopped();
  const exported = async () => {
    const { stdout } = await commands.start(["--state-dir", dirname(file), "db", "export"]).ended;
    return stdout;
  };
  const before = await exported();
  expect(before).toContain('"text":"hello\\n"');
  const asked = await commands.start(["--state-dir", dirname(file), "db", "export"], {
    HOLDFAST_OUTPUT: "json",
  }).ended;
  expect(JSON.parse(asked.stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({ ok: true });
  expect(await agent("db", "gc", "--older-than", "0s", "--dry-run")).toMatchObject({
    data: { records: 1, archives: [], effect: "would_delete" },
  });
  expect(await agent("db", "gc", "--older-than", "0s")).toMatchObject({
    data: { records: 1, effect: "deleted" },
  });
  for (const argv of [[], ["--dry-run"]])
    expect(await agent("db", "gc", "--older-than", "0s", ...argv)).toMatchObject({
      data: { records: 0, effect: "noop" },
    });
  expect(await exported()).toBe(before);
  expect(await agent("db", "check")).toMatchObject({ exit: 0, data: { ok: true } });
});

it("a vacuum is for a daemon that has stopped: beside one that runs nothing is done", async () => {
  const { agent } = await stopped();
  expect(await agent("db", "gc", "--vacuum", "--dry-run")).toMatchObject({ exit: 3 });
  expect(await agent("db", "gc", "--vacuum")).toMatchObject({
    exit: 0,
    data: { needs_vacuum: false, reusable_bytes: 0 },
  });
  expect(await agent("daemon", "start")).toMatchObject({ exit: 0 });
  try {
    expect(await agent("db", "gc", "--vacuum", "--older-than", "0s")).toMatchObject({
      error: {
        code: "INVALID_STATE",
        suggestion: expect.stringContaining("agent daemon stop --keep-agents"),
      },
    });
    expect(await agent("db", "gc", "--max-size", "1G")).toMatchObject({ exit: 0, data: { records: 0 } });
  } finally {
    await agent("daemon", "stop");
  }
});

it("a request for output that was moved is told where it is, and the named command has it", async () => {
  const { agent, file } = await stopped();
  const text = async (...argv: string[]) =>
    (await commands.start(["--state-dir", dirname(file), "-o", "text", ...argv]).ended).stdout;
  expect(await agent("db", "gc", "--older-than", "0s")).toMatchObject({ data: { records: 1 } });
  expect(await agent("daemon", "start")).toMatchObject({ exit: 0 });
  try {
    const { data } = await agent("info", "one");
    const moved = data.moved_output as { from_seq: number; to_seq: number };
    const archive = readdirSync(join(dirname(file), "archive"))[0];
    expect(moved).toMatchObject({ records: 1, archives: [archive] });
    const next = `agent db export --from ${moved.from_seq} --to ${moved.to_seq}`;
    const output = await agent("output", "one");
    expect(output).toMatchObject({ exit: 5, error: { code: "OUTPUT_NOT_FOUND" } });
    expect(output.error?.message).toContain(`was moved out of the log, to archive/${archive}`);
    expect(JSON.stringify(output.error)).toContain(next);
    for (const words of [
      ["logs", "one"],
      ["watch", "one", "--from", "0"],
      ["info", "one"],
    ])
      expect(await text(...words)).toContain(next);
    expect(await text(...next.split(" ").slice(1))).toContain('"text":"hello\\n"');
  } finally {
    await agent("daemon", "stop");
  }
});

it("exports run and worker events, which say what the list says, and name every event once", async () => {
  const { agent } = await stopped();
  const { exit, stdout } = await agent("db", "export", "--format", "v2");
  expect(exit).toBe(0);
  const events: StreamEvent[] = stdout
    .trimEnd()
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const streams = new EventStreams();
  for (const event of events) streams.append(event);
  const [life, run] = streams.all() as [StreamEvent[], StreamEvent[]];
  expect(run.map(({ event_type }) => event_type)).toEqual(["run.started", "run.completed"]);
  const told = life.map(({ payload }) => payload as WorkerEvent);
  expect(told.map(({ event_kind, status }) => [event_kind, status])).toEqual([
    ["worker_spawn_requested", "pending"],
    ["worker_state_changed", "starting"],
    ["worker_spawned", "starting"],
    ["worker_started", "running"],
    ["worker_state_changed", "running"],
    ["worker_log_chunk", "running"],
    ["worker_completed", "completed"],
  ]);
  expect(told.at(-2)).toMatchObject({ tag: "one", metadata: { stream: "stdout", chunk: "hello\n" } });
  expect(told.at(-1)).toMatchObject({ attempt: 1, exit_code: 0 });
  expect(await agent("db", "export", "--format", "v2", "--from", "2")).toMatchObject({
    exit: 3,
    error: { message: expect.stringContaining("whole streams") },
  });
});

it("rows that somebody has edited are told by the doctor, and are as their records say once a daemon starts", async () => {
  const { agent, file } = await stopped();
  const db = new SQLite(file);
  db.exec("UPDATE p_workers SET restarts = 99, cost_usd = 12345, state = 'failed', exit_code = 7");
  db.close();
  const doctor = await agent("doctor");
  expect(doctor).toMatchObject({ error: { code: "DOCTOR_CHECKS_FAILED" } });
  expect((doctor.meta.partial as DoctorReport).checks).toContainEqual({
    name: "projections",
    result: "fail",
    finding: expect.stringMatching(/^The projected rows of worker:/),
    fix: "agent db rebuild",
  });
  await agent("daemon", "start");
  try {
    expect(await agent("info", "one")).toMatchObject({
      data: { state: "completed", restarts: 0, exit_code: 0 },
    });
    expect(await agent("db", "check")).toMatchObject({ exit: 0, data: { ok: true } });
    const beside = new SQLite(file);
    beside.exec("UPDATE p_workers SET restarts = 99");
    beside.close();
    expect(await agent("doctor")).toMatchObject({ error: { code: "DOCTOR_CHECKS_FAILED" } });
    await agent("db", "rebuild");
    expect(await agent("info", "one")).toMatchObject({ data: { restarts: 0 } });
  } finally {
    await agent("daemon", "stop");
  }
});
