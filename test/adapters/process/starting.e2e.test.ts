/** An agent may be gone before anybody has looked at it. Its remembered state is then no sign of tampering. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChangeWatch } from "../../../src/adapters/process/change-watch.ts";
import { identityOf, livenessOf, NO_PROCESS, readStat } from "../../../src/adapters/process/identity.ts";
import { readTable } from "../../../src/adapters/process/process-table.ts";
import { agentOf } from "../../../src/adapters/process/starting.ts";
import { isOfRun, isPumpOf } from "../../../src/adapters/process/vouching.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { ProcessIdentity } from "../../../src/protocol/records.ts";
import { temporaryDirectory, until } from "./support.ts";

const MARKER = "a-store/W/1";
/** A launcher that has ended: nobody has its pid with this start time. */
const GONE = identityOf(process.pid, "1");

const identityNow = (pid: number): ProcessIdentity => identityOf(pid, readStat(pid)?.start_time ?? "");

const started = (program: string, ...args: string[]): ChildProcess => {
  const process = spawn(program, args, { stdio: "ignore" });
  onTestFinished(() => void process.kill("SIGKILL"));
  return process;
};

const childrenOf = (pid: number | undefined): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number);

/** Its parent never asks how it ended, so it stays in the process table. */
const deadButListed = async (): Promise<ProcessIdentity> => {
  const { pid: parent } = started("sh", "-c", "sleep 0 & exec sleep 1000");
  await until(() => childrenOf(parent).length === 1, "it has a child");
  const dead = identityNow(childrenOf(parent)[0] as number);
  await until(() => livenessOf(dead) === "zombie", "the child is dead");
  return dead;
};

const named = (identity: ProcessIdentity): string => {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, "pid"), `${identity.pid} ${identity.start_time}\n`);
  return dir;
};

/** The case of a launcher that runs at the first look, and is gone at the next one, when the process table is asked. */
const endingNotices = (dir: string, end: () => void = () => undefined): ChangeWatch => {
  let looks = 0;
  return Object.defineProperty(new ChangeWatch(dir), "launcherRuns", {
    get: () => {
      looks += 1;
      if (looks > 1) end();
      return looks < 2;
    },
  });
};

const startOf = async (
  dir: string,
  changes: ChangeWatch,
  launcher = GONE,
  meanwhile: () => void = () => undefined,
) => {
  onTestFinished(() => changes.close());
  const told: string[] = [];
  const agent = agentOf(
    "true",
    { dir, changes, launcher, marker: MARKER, tell: ({ file, detail }) => told.push(`${file}: ${detail}`) },
    (said) => new HoldfastError("EXEC_FAILED", said),
  );
  meanwhile();
  return { agent: await agent, told };
};

test("an agent that is dead, and still listed, when it is first looked at is the agent", async () => {
  const dead = await deadButListed();
  const dir = named(dead);
  writeFileSync(join(dir, "exit"), "0\n");
  expect(await startOf(dir, new ChangeWatch(dir))).toEqual({ agent: dead, told: [] });
});

test("an agent that ends, with its launcher, while it is looked for is the agent", async () => {
  const process = started("sleep", "1000");
  const ending = identityNow(process.pid as number);
  const dir = named(ending);
  const end = (): void => {
    process.kill("SIGKILL");
    while (livenessOf(ending) === "running");
  };
  expect(await startOf(dir, endingNotices(dir, end))).toEqual({ agent: ending, told: [] });
});

test("an agent that names itself and ends while the table is read is the agent, not the child that it leaves to its launcher", async () => {
  const launcher = started("sh", "-c", "sleep 1000 & wait");
  await until(() => childrenOf(launcher.pid).length > 0, "it has a child");
  const [left] = childrenOf(launcher.pid);
  onTestFinished(() => void process.kill(left as number, "SIGKILL"));
  const dead = await deadButListed();
  const dir = temporaryDirectory();
  writeFileSync(join(dir, "pid"), "nobody\n");
  const changes = Object.assign(new ChangeWatch(dir), { launcherRuns: true });
  const ended = () => {
    writeFileSync(join(dir, "pid"), `${dead.pid} ${dead.start_time}\n`);
    writeFileSync(join(dir, "exit"), "137\n");
  };
  expect(await startOf(dir, changes, identityNow(launcher.pid as number), ended)).toEqual({
    agent: dead,
    told: [],
  });
});

test("a living process that is not of the run is never its agent, also where nobody knows the agent any more", async () => {
  const stranger = identityNow(started("sleep", "1000").pid as number);
  const dir = named(stranger);
  writeFileSync(join(dir, "exit"), "0\n");
  const { agent, told } = await startOf(dir, new ChangeWatch(dir));
  expect(agent.pid).toBe(NO_PROCESS);
  expect(told).toEqual([`pid: it names pid ${stranger.pid}, which lives and does not belong to this run`]);
});

test("a pid file that names nobody, of a run whose agent nobody knows, is no finding", async () => {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, "pid"), "nobody\n");
  const { agent, told } = await startOf(dir, endingNotices(dir));
  expect({ pid: agent.pid, told }).toEqual({ pid: NO_PROCESS, told: [] });
});

test("a process that is gone contradicts nobody", async () => {
  const dead = await deadButListed();
  expect(await isOfRun(dead, GONE, MARKER)).toBe(true);
  expect(await isPumpOf(dead, GONE, MARKER, "/runs/W/1")).toBe(true);
});

test("a pid file without content is waited for: no table is read, and no stranger is taken for the agent", async () => {
  const launcher = started("sh", "-c", "sleep 1000 & wait");
  await until(() => childrenOf(launcher.pid).length > 0, "it has a child");
  const [other] = childrenOf(launcher.pid);
  onTestFinished(() => void process.kill(other as number, "SIGKILL"));
  const agent = await deadButListed();
  const dir = temporaryDirectory();
  writeFileSync(join(dir, "pid"), "");
  const changes = Object.assign(new ChangeWatch(dir), { launcherRuns: true });
  const written = async () => {
    // A look at the table that was begun at once is over by then.
    await readTable();
    await readTable();
    writeFileSync(join(dir, "exit"), "0\n");
    writeFileSync(join(dir, "pid"), `${agent.pid} ${agent.start_time}\n`);
  };
  expect(await startOf(dir, changes, identityNow(launcher.pid as number), () => void written())).toEqual({
    agent,
    told: [],
  });
});
