/** A log that is empty, missing or older than agents that run: the daemon refuses to begin another one, and names both. Real processes. */
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import SQLite from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import type { Check, DoctorReport } from "../../src/cli/reports.ts";
import { type Commands, makeCommands, until } from "../cli/support/commands.ts";

let commands: Commands;
beforeEach(() => {
  commands = makeCommands();
});
afterEach(() => commands.close());

const running = async (name: string): Promise<Record<string, unknown>> => {
  await until(async () => (await commands.agent("info", name)).data.state === "running");
  return (await commands.agent("info", name)).data;
};

const killDaemon = async (): Promise<void> => {
  const daemon = await commands.daemonPid();
  process.kill(daemon, "SIGKILL");
  await until(() => readStat(daemon) === undefined);
};

/** As the refusal says it. */
const endThem = async (suggestion = ""): Promise<void> => {
  const [, pids = ""] = /kill -9 ([\d ]+)/.exec(suggestion) ?? [];
  const named = pids.trim().split(" ").map(Number);
  for (const pid of named) process.kill(pid, "SIGKILL");
  await until(() => named.every((pid) => readStat(pid) === undefined));
};

/** The line of the doctor about the log. */
const checkedLog = async (): Promise<Check | undefined> => {
  const { data, meta } = await commands.agent("doctor");
  return ((meta.partial ?? data) as unknown as DoctorReport).checks.find(({ name }) => name === "event log");
};

const FILES = ["", "-wal", "-shm"];
const file = () => join(commands.home, "holdfast.db");

it.each([
  ["missing", () => rmSync(file())],
  ["empty", () => truncateSync(file())],
])(
  "a log that is %s is refused while its agents run, and another one begins once they have ended",
  async (what, spoil) => {
    const { data } = await commands.agent("spawn", "--name", "keeper", "--", "sleep", "600");
    const pid = (await running("keeper")).pid as number;
    await killDaemon();
    for (const suffix of FILES.slice(1)) rmSync(`${file()}${suffix}`, { force: true });
    spoil();
    const refused = await commands.agent("daemon", "start");
    expect(refused.error?.message).toContain(`The event log ${file()} is ${what}, and an agent of it runs:`);
    expect(refused.error?.message).toContain(`runs/${data.id}/1 (pid `);
    expect(refused.error?.message).toContain(String(pid));
    expect(refused.error?.suggestion).toContain("kill -9 ");
    expect(await checkedLog()).toEqual({
      name: "event log",
      result: "fail",
      finding: refused.error?.message.replace("The daemon did not start: ", ""),
      fix: expect.stringContaining("kill -9 "),
    });
    await endThem(refused.error?.suggestion);
    expect(readStat(pid)).toBeUndefined();
    expect(await checkedLog()).toMatchObject({
      result: "fail",
      finding: expect.stringMatching(
        new RegExp(`^The event log ${file()} is ${what}; the earlier one had at least \\d+ records\\.$`),
      ),
    });
    expect((await commands.agent("daemon", "start")).exit).toBe(0);
  },
);

/** Its witness goes back with it, so that the processes alone tell. */
const putBack = (copy: string): void => {
  for (const suffix of [...FILES, ".witness"]) rmSync(`${file()}${suffix}`, { force: true });
  copyFileSync(copy, file());
};

it("an older log is refused while agents run that it does not know; those that it knows are taken over then", async () => {
  await commands.agent("spawn", "--name", "old", "--", "sleep", "600");
  await commands.agent("spawn", "--name", "restarted", "--", "sleep", "600");
  const old = await running("old");
  await running("restarted");
  await commands.agent("daemon", "stop", "--keep-agents");
  const copy = join(commands.home, "holdfast.db.backup");
  copyFileSync(file(), copy);
  await commands.agent("daemon", "start");
  const { data } = await commands.agent("spawn", "--name", "newer", "--", "sleep", "600");
  const newer = await running("newer");
  await commands.agent("restart", "restarted");
  await until(async () => (await running("restarted")).incarnation === 2);
  const restarted = await running("restarted");
  await killDaemon();
  putBack(copy);
  const { error } = await commands.agent("daemon", "start");
  expect(error?.message).toContain(`The event log ${file()} does not know 2 agents that run: `);
  expect(error?.message).toContain(`runs/${data.id}/1 (pid `);
  expect(error?.message).toContain(`runs/${restarted.id}/2 (pid `);
  expect(error?.message).not.toContain(`runs/${old.id}/`);
  expect(readStat(newer.pid as number)).toBeDefined();
  await endThem(error?.suggestion);
  expect((await commands.agent("daemon", "start")).exit).toBe(0);
  expect(await running("old")).toMatchObject({ pid: old.pid, incarnation: 1 });
});

it("a database without a table knows none of the agents that run", async () => {
  await commands.agent("spawn", "--name", "keeper", "--", "sleep", "600");
  await running("keeper");
  await killDaemon();
  for (const suffix of FILES) rmSync(`${file()}${suffix}`, { force: true });
  const empty = new SQLite(file());
  empty.exec("CREATE TABLE t (x); DROP TABLE t");
  empty.close();
  const { error } = await commands.agent("daemon", "start");
  expect(error?.message).toContain(`The event log ${file()} does not know an agent that runs: `);
  await endThem(error?.suggestion);
});

it("an agent whose worker was deleted from a projection is taken over all the same", async () => {
  await commands.agent("spawn", "--name", "keeper", "--", "sleep", "600");
  const { pid } = await running("keeper");
  await killDaemon();
  const beside = new SQLite(file());
  beside.exec("DELETE FROM p_workers");
  beside.close();
  expect((await commands.agent("daemon", "start")).exit).toBe(0);
  expect(await running("keeper")).toMatchObject({ pid, incarnation: 1 });
});
