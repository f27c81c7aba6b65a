/**
 * The end of a launcher. A launcher that ends by itself proves that its run is empty (docs/decisions/0032).
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { LAUNCHER_LEAVES_MS, SWEEP_KILL_WAIT_MS } from "../../base/limits.ts";
import type { ProcessIdentity, SweepReport } from "../../protocol/records.ts";
import type { ChangeWatch } from "./change-watch.ts";
import { isAlive, signalProcess } from "./identity.ts";
import { readExitStatus } from "./run-directory.ts";
import { hasChildren } from "./sweep.ts";

/** The launcher of an agent that has ended. */
export interface LauncherEnding {
  readonly launcher: ProcessIdentity;
  readonly changes: ChangeWatch;
  readonly dir: string;
  /** It is a sub-reaper. */
  readonly keeps_orphans: boolean;
  /** Another daemon started it. */
  readonly isTakenOver: boolean;
}

let listsChildren: boolean | undefined;

/**
 * Not every kernel lists children. Without the list a launcher cannot know whether a process is left below
 * it.
 */
const canListChildren = (): boolean => {
  listsChildren ??= existsSync("/proc/thread-self/children");
  return listsChildren;
};

/**
 * Whether a sub-reaper has written the exit and ended by itself: then no process was left below it. A killed
 * launcher proves nothing. If the exit file could not be written, the launcher's code is the agent's.
 */
export const hasEndedAlone = ({ keeps_orphans, changes, dir }: LauncherEnding): boolean =>
  keeps_orphans &&
  !changes.launcherRuns &&
  changes.launcherCode === 0 &&
  canListChildren() &&
  readExitStatus(dir) !== undefined;

/**
 * Whether no process of the run is left. A launcher with processes below it stays; any other ends within a
 * moment.
 */
export const isLeftByNobody = async (ending: LauncherEnding): Promise<boolean> => {
  const { keeps_orphans, changes, launcher } = ending;
  if (!keeps_orphans) return false;
  if (changes.launcherRuns && !hasChildren(launcher.pid)) await changes.untilEnded(LAUNCHER_LEAVES_MS);
  return hasEndedAlone(ending);
};

/**
 * The report of a sweep whose launcher checked its children itself: every process of a group that it leads
 * descends from it.
 */
export const withDescent = (report: SweepReport): SweepReport =>
  report.method === "cgroup" || report.checked_by?.length === 0
    ? report
    : { ...report, checked_by: ["group", "marker", "output", "descent"] };

/**
 * Waits for the end of a launcher that has written its exit. One that hangs is killed. One that was taken
 * over is killed at once, because it only waited for the sweep. For our own child, the exit code is known
 * afterwards.
 */
export const launcherEnds = async ({ launcher, changes, isTakenOver }: LauncherEnding): Promise<void> => {
  if (isTakenOver) signalProcess(launcher, "SIGKILL");
  const deadline = performance.now() + SWEEP_KILL_WAIT_MS;
  while (isAlive(launcher) || changes.launcherRuns) {
    changes.look(launcher);
    if (performance.now() >= deadline) return void signalProcess(launcher, "SIGKILL");
    await sleep(1);
  }
};
