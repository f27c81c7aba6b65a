/** The state directory as hostile ground: what lies under a name of the runtime's and is no regular file delays nobody. Real processes. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, type Commands, makeCommands, until } from "../cli/support/commands.ts";

let commands: Commands;
beforeEach(() => {
  commands = makeCommands();
});
afterEach(() => commands.close());

const at = (name: string) => join(commands.home, name);
const aFifo = (path: string): void => void execFileSync("mkfifo", [path]);
const SINS: Readonly<Record<string, (path: string) => void>> = {
  "a FIFO": aFifo,
  "a link to /dev/zero": (path) => symlinkSync("/dev/zero", path),
  "a link to itself": (path) => symlinkSync(basename(path), path),
  "a directory": (path) => mkdirSync(join(path, "below"), { recursive: true }),
};
const spoil = (names: readonly string[], sin: (path: string) => void) => {
  for (const name of names) {
    rmSync(at(name), { recursive: true, force: true });
    sin(at(name));
  }
};

/** A command that hangs fails its test here, and is ended. */
const ANSWER_MAX_MS = 30_000;
const soon = async (...argv: string[]): Promise<Answer> => {
  const timer = AbortSignal.timeout(ANSWER_MAX_MS);
  return Promise.race([
    commands.agent(...argv),
    new Promise<never>((_, reject) =>
      timer.addEventListener("abort", () => reject(new Error(`agent ${argv.join(" ")} hangs`))),
    ),
  ]);
};

/** A daemon makes them anew, or does without. */
const MADE_ANEW = [
  "holdfast.db.reserve",
  "holdfast.db.witness",
  "daemon.json",
  "daemon.log",
  "daemon.lock",
] as const;
const FOR_A_MOMENT = [
  "holdfast.db.witness.new",
  "daemon.json.new",
  "daemon.lock-journal",
  "daemon.starting",
  "daemon.stalled",
  "config.yaml",
];

describe.each(Object.entries(SINS))("%s in the place of a file", (_, sin) => {
  it("that can be made anew holds up no daemon, and the agents are taken over", async () => {
    await soon("spawn", "--name", "keeper", "--", "sleep", "600");
    await until(async () => (await soon("info", "keeper")).data.state === "running");
    const { pid } = (await soon("info", "keeper")).data;
    await commands.killDaemon();
    spoil([...MADE_ANEW, ...FOR_A_MOMENT, "agent.sock"], sin);
    expect(await soon("daemon", "start")).toMatchObject({ exit: 0, error: null });
    expect((await soon("info", "keeper")).data).toMatchObject({ state: "running", pid });
    await until(() => MADE_ANEW.every((name) => lstatSync(at(name), { throwIfNoEntry: false })?.isFile()));
  });

  it("is found under a daemon that runs, which makes its own anew and answers meanwhile", async () => {
    await soon("daemon", "start");
    spoil(
      ["daemon.json", "daemon.token", "daemon.log", "daemon.stalled", "holdfast.db.witness", "agent.sock"],
      sin,
    );
    expect(await soon("list")).toMatchObject({ exit: 0 });
    const isMade = (name: string) => lstatSync(at(name), { throwIfNoEntry: false })?.isFile() === true;
    await until(() => ["daemon.json", "daemon.token", "daemon.log"].every(isMade));
    expect(await soon("doctor")).toMatchObject({ error: null });
    expect(await soon("daemon", "stop")).toMatchObject({ exit: 0, data: { effect: "deleted" } });
  });
});

it("a FIFO where a person must look is refused by its name", async () => {
  await soon("daemon", "start");
  await soon("daemon", "stop");
  for (const name of ["holdfast.db-wal", "holdfast.db-journal", "daemon.token", "holdfast.db.written-back"]) {
    const kept = at("kept");
    if (existsSync(at(name))) renameSync(at(name), kept);
    spoil([name], aFifo);
    const { exit, error } = await soon("daemon", "start");
    expect(exit).not.toBe(0);
    expect(error?.message).toContain(`${at(name)} is `);
    expect(error?.suggestion).toMatch(/^(Move it away|Remove it)/);
    rmSync(at(name));
    if (existsSync(kept)) renameSync(kept, at(name));
  }
  expect(await soon("daemon", "start")).toMatchObject({ exit: 0 });
});

it("a FIFO beside the log holds up neither a check nor an export", async () => {
  await soon("daemon", "start");
  await soon("daemon", "stop");
  spoil(["holdfast.db-journal"], aFifo);
  const sentence = `${at("holdfast.db-journal")} is not a regular file, so the event log beside it cannot be opened.`;
  expect((await soon("db", "check")).error?.message).toContain(sentence);
  for (const argv of [["export"], ["gc", "--vacuum"], ["rebuild"]])
    expect((await soon("db", ...argv)).error).toMatchObject({ code: "STORE_CORRUPT", message: sentence });
});

it("a directory that was in the way is kept beside it", async () => {
  spoil(["daemon.json", "agent.sock"], SINS["a directory"]!);
  expect(await soon("daemon", "start")).toMatchObject({ exit: 0 });
  const moved = readdirSync(commands.home).filter((name) => existsSync(join(at(name), "below")));
  expect(moved.sort()).toEqual([
    expect.stringMatching(/^agent\.sock\.moved\.\d+$/),
    expect.stringMatching(/^daemon\.json\.moved\.\d+$/),
  ]);
});

it("a claim of the future holds up no client", async () => {
  writeFileSync(at("daemon.starting"), "");
  const future = new Date(Date.now() + 3_600_000);
  utimesSync(at("daemon.starting"), future, future);
  expect(await soon("daemon", "start")).toMatchObject({ exit: 0 });
});

it("a stop that finds nobody names who holds the state directory", async () => {
  await soon("daemon", "start");
  const { pid } = JSON.parse(readFileSync(at("daemon.json"), "utf8")) as { pid: number };
  // It makes them again when it runs.
  process.kill(pid, "SIGSTOP");
  try {
    rmSync(at("agent.sock"));
    spoil(["daemon.json"], aFifo);
    const { exit, error } = await soon("daemon", "stop");
    expect(exit).toBe(4);
    expect(error?.message).toBe(
      `Process ${pid} holds the state directory ${commands.home}, and no daemon answers there.`,
    );
    expect(error?.suggestion).toContain(`kill -9 ${pid} && agent daemon start`);
    expect((await soon("doctor")).stdout).toContain(`Process ${pid} holds`);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until(async () => (await soon("daemon", "status")).exit === 0);
});
