/** A spawner of its own in a temporary directory, the misbehaving children, and canaries that count survivors. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { StdinPlan } from "../../../src/adapters/adapter.ts";
import { isAlive } from "../../../src/adapters/process/identity.ts";
import type { ProcessRun } from "../../../src/adapters/process/run.ts";
import { makeProcessSpawner, type ProcessSpawnerOptions } from "../../../src/adapters/process/spawner.ts";
import type { LaunchRequest } from "../../../src/adapters/spawner.ts";
import { killIfThere } from "../../support/kill-if-there.ts";

export const child = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/children/${name}`, import.meta.url));

export const temporaryDirectory = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-process-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

export const until = async (condition: () => boolean, what: string, withinMs = 100_000): Promise<void> => {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

export interface Canary {
  readonly path: string;
  /** Whether any process still holds it. */
  isHeld(): boolean;
}

/** A FIFO that we read: without writers it reads as ended, with one there is nothing to read yet. */
export const makeCanary = (dir: string): Canary => {
  const path = join(dir, `canary-${Math.random().toString(36).slice(2)}`);
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  return {
    path,
    isHeld: () => {
      try {
        return readSync(fd, Buffer.alloc(1), 0, 1, null) > 0;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === "EAGAIN") return true;
        throw cause;
      }
    },
  };
};

const EMPTY: StdinPlan = { kind: "empty" };

/** Ends, by identity, whatever a failed test leaves of its runs. */
export const makeBench = (over: Partial<ProcessSpawnerOptions> = {}) => {
  const dir = temporaryDirectory();
  const runsDir = join(dir, "runs");
  const storeId = `test-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const spawner = makeProcessSpawner({ runsDir, storeId, ...over });
  const runs: ProcessRun[] = [];
  let incarnation = 0;
  onTestFinished(async () => {
    for (const run of runs) {
      await run.kill();
      await run.sweep();
      if (isAlive(run.launcher)) killIfThere(run.launcher.pid);
    }
    await spawner.close();
  });
  const request = (argv: readonly string[], given: Partial<LaunchRequest> = {}): LaunchRequest => ({
    worker_id: "W",
    incarnation: ++incarnation,
    argv,
    cwd: dir,
    env: { PATH: process.env.PATH ?? "" },
    stdin: EMPTY,
    ...given,
  });
  const launch = async (argv: readonly string[], given: Partial<LaunchRequest> = {}): Promise<ProcessRun> => {
    const run = await spawner.launch(request(argv, given));
    runs.push(run);
    return run;
  };
  const keep = (run: ProcessRun): ProcessRun => {
    runs.push(run);
    return run;
  };
  return { dir, runsDir, storeId, spawner, request, launch, keep };
};

export const printed = (run: ProcessRun): string => readFileSync(run.spool("stdout"), "utf8");

export const ready = (run: ProcessRun): Promise<void> =>
  until(() => printed(run).includes("ready\n"), "the child says that it is ready");
