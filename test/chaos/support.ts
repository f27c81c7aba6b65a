/**
 * Tools of chaos around a daemon (client.ts): its peak memory, its whole log, and ledgers that the children write
 * themselves. A test's daemons, and their agents by their marker, are ended whatever became of the test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../adapters/process/support.ts";
import { type Daemon, endMarked, type Launched, launchDaemon, type Surroundings } from "./client.ts";

export { child, makeCanary, temporaryDirectory } from "../adapters/process/support.ts";
export {
  AGENT,
  type Agents,
  clientOf,
  connectTo,
  DAEMON,
  type Daemon,
  endMarked,
  environment,
  lives,
  marked,
  type RecordOf,
  sleep,
  until,
} from "./client.ts";

/** As `launchDaemon`, and ended with its agents after the test. */
export const launchedDaemon = (stateDir: string, how: Surroundings = {}): Launched => {
  const daemon = launchDaemon(stateDir, how);
  onTestFinished(async () => {
    await daemon.kill9();
    const storeId = daemon.storeId();
    if (storeId !== undefined) endMarked(storeId);
  });
  return daemon;
};

/** In `stateDir`, where a killed one may have left its agents; otherwise in a directory of its own. */
export const startDaemon = async (
  stateDir: string = join(temporaryDirectory(), "state"),
  how: Surroundings = {},
): Promise<Daemon> => {
  const daemon = launchedDaemon(stateDir, how);
  if (!(await daemon.answers())) throw new Error(`the daemon ended: ${daemon.said()}`);
  return daemon;
};

const memoryOf = (pid: number, field: "VmHWM" | "VmRSS"): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) /
  1024;

/** The most memory that a process ever held, in MiB, as the kernel kept count. */
export const peakMiB = (pid: number): number => memoryOf(pid, "VmHWM");

/** A file that children append to, a line a fact, and the test reads on. */
export const makeLedger = (dir: string, name = "ledger") => {
  const path = join(dir, name);
  writeFileSync(path, "");
  const all = (): string[][] =>
    readFileSync(path, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(" "));
  return { path, all };
};

/** `seq` of the whole log: dense, whatever happened. */
export const expectedSeqs = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);
