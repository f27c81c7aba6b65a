/** The end of a launcher, which vouches for its run where it ends by itself (docs/decisions/0032). */
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
  /** Another daemon has started it. */
  readonly isTakenOver: boolean;
}

let listsChildren: boolean | undefined;

/** Not every kernel does; without it a launcher cannot know that nobody is below it. */
const canListChildren = (): boolean => {
  listsChildren ??= existsSync("/proc/thread-self/children");
  return listsChildren;
};

/**
 * A sub-reaper that has written the exit and ended by itself had nobody below it; one that was killed says nothing. Without a file
 * for the exit its code is the agent's.
 */
export const hasEndedAlone = ({ keeps_orphans, changes, dir }: LauncherEnding): boolean =>
  keeps_orphans &&
  !changes.launcherRuns &&
  changes.launcherCode === 0 &&
  canListChildren() &&
  readExitStatus(dir) !== undefined;

/** A launcher that has somebody below it stays; any other is gone in a moment. */
export const isLeftByNobody = async (ending: LauncherEnding): Promise<boolean> => {
  const { keeps_orphans, changes, launcher } = ending;
  if (!keeps_orphans) return false;
  if (changes.launcherRuns && !hasChildren(launcher.pid)) await changes.untilEnded(LAUNCHER_LEAVES_MS);
  return hasEndedAlone(ending);
};

/** By its launcher, which has looked itself: all of a group that it leads descends from it. */
export const withDescent = (report: SweepReport): SweepReport =>
  report.method === "cgroup" || report.checked_by?.length === 0
    ? report
    : { ...report, checked_by: ["group", "marker", "output", "descent"] };

/**
 * Its exit is written, so it has nothing more to do, and is gone in a moment. One that hangs is killed, and one that was taken over is
 * killed at once: it has only waited for the sweep. How a child ended is known then.
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
