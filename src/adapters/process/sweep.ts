/**
 * The sweep ends what a run left behind. It stops every process that carries the run's marker in its
 * environment, writes to its spools or was recorded as its descendant, until no new one appears, and then
 * kills them (architecture §5, Stop ladder). One sweep serves all waiting runs. It never claims that nothing
 * can hide: a process can hide if no snapshot saw its parent, it ran `env -i setsid` and it writes elsewhere,
 * and so can processes of other users. In a cgroup nothing can hide.
 */
import { readlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "../../base/crash-point.ts";
import { RUN_POLL_MS, SWEEP_KILL_WAIT_MS, SWEEP_PASSES_MAX } from "../../base/limits.ts";
import type { ProcessIdentity, SweepReport } from "../../protocol/records.ts";
import type { Cgroups } from "./cgroups.ts";
import type { RunContainer } from "./containers.ts";
import { identityOf, isAlive, listPids, readProc, readStat, signalProcess } from "./identity.ts";
import { eachEnvironment, IN_EXEC, markerIn } from "./marker.ts";
import { descendantsOf, type KnownProcesses, kinshipOf, readTable } from "./process-table.ts";

export interface SweepTarget {
  readonly marker: string;
  /** Never ended here, because it must write the exit. */
  readonly launcher: ProcessIdentity;
  /** Descendants from snapshots. */
  readonly recorded: KnownProcesses;
  /**
   * The run's directory with links resolved. A process that writes to its spools belongs to the run, whatever
   * its environment is.
   */
  readonly dir?: string | undefined;
  /** The run's own cgroup, if it has one. Then nothing can hide. */
  readonly cgroup?: string | undefined;
  /** The launcher is a sub-reaper: as long as it lives, all that is left of the run descends from it. */
  readonly keeps_orphans?: boolean | undefined;
  /** The run has a container. */
  readonly container?: RunContainer | undefined;
}

interface PendingSweep extends SweepTarget {
  /**
   * The launcher lived from the start of the sweep to the end of its search, so its session and its
   * descendants are certain.
   */
  hasLauncher: boolean;
  readonly found: Map<number, ProcessIdentity>;
  readonly resolve: (report: SweepReport) => void;
}

export class Sweeper {
  private readonly cgroups: Cgroups;
  private waiting: PendingSweep[] = [];
  private busy = false;

  constructor(cgroups: Cgroups) {
    this.cgroups = cgroups;
  }

  async sweep(target: SweepTarget): Promise<SweepReport> {
    // First, so that the container's own watcher is still there to clean up.
    await target.container?.remove();
    return withContainer(target, await this.search(target));
  }

  private search(target: SweepTarget): Promise<SweepReport> {
    const { promise, resolve } = Promise.withResolvers<SweepReport>();
    const hasLauncher = isAlive(target.launcher);
    this.waiting.push({ ...target, hasLauncher, found: new Map(), resolve });
    void this.serve();
    return promise;
  }

  /** The launcher found no process below it and ended, so only the cgroup needs a check. */
  async leftByNobody(target: Pick<SweepTarget, "launcher" | "cgroup" | "container">): Promise<SweepReport> {
    const report = await this.withCgroup(target, {
      method: "marker",
      unreadable: 0,
      survivors: [],
      killed: 0,
      checked_by: ["group", "descent"],
    });
    return withContainer(target, report);
  }

  private async serve(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.length > 0) {
      // Callers in the same turn of the event loop share the scan: a boot settles hundreds at once.
      await nextTurn();
      const batch = this.waiting;
      this.waiting = [];
      const unreadable = await retried(() => stopAll(batch));
      for (const target of batch) target.hasLauncher &&= isAlive(target.launcher);
      await Promise.all(batch.map(async (target) => target.resolve(await this.end(target, unreadable))));
    }
    this.busy = false;
  }

  private async end(target: PendingSweep, unreadable: number | undefined): Promise<SweepReport> {
    return this.withCgroup(target, await killFound(target, unreadable));
  }

  private async withCgroup(
    { cgroup, launcher }: Pick<SweepTarget, "launcher" | "cgroup">,
    report: SweepReport,
  ): Promise<SweepReport> {
    if (cgroup === undefined) return report;
    const more = await emptied(this.cgroups, cgroup, launcher);
    return more === undefined
      ? report
      : { ...report, method: "cgroup", checked_by: ["cgroup"], killed: report.killed + more };
  }
}

/** Last, because a podman that was ended may have made one until then. */
const withContainer = async (
  { container }: Pick<SweepTarget, "container">,
  report: SweepReport,
): Promise<SweepReport> =>
  container === undefined || (await container.remove())
    ? report
    : { ...report, left_container: container.name };

/**
 * Empties a run's cgroup, except for a launcher that must write the exit. Returns how many processes it
 * killed; undefined if the cgroup could not be emptied or read.
 */
const emptied = async (
  cgroups: Cgroups,
  dir: string,
  launcher: ProcessIdentity,
): Promise<number | undefined> => {
  const deadline = performance.now() + SWEEP_KILL_WAIT_MS;
  const killed = new Set<number>();
  try {
    do {
      const isSpared = isAlive(launcher);
      const left = cgroups.members(dir).filter((pid) => pid !== launcher.pid || !isSpared);
      if (left.length === 0) {
        cgroups.remove(dir);
        return killed.size;
      }
      for (const pid of left) killed.add(pid);
      if (isSpared) for (const pid of left) killAsSeen(pid);
      else cgroups.kill(dir);
      await sleep(1);
    } while (performance.now() < deadline);
  } catch {
    // The cgroup is gone or not ours any more, so the result of the marker search stands.
  }
  return undefined;
};

/** Kills a pid that the cgroup has just listed. */
const killAsSeen = (pid: number): void => {
  const stat = readStat(pid);
  if (stat !== undefined) signalProcess(identityOf(pid, stat.start_time), "SIGKILL");
};

/**
 * Without free descriptors no process can be found: the sweep waits, and at last reports that it could not
 * search.
 */
const retried = async (look: () => Promise<number>): Promise<number | undefined> => {
  for (let attempt = 1; attempt < SWEEP_PASSES_MAX; attempt += 1) {
    try {
      return await look();
    } catch {
      await sleep(RUN_POLL_MS);
    }
  }
  return undefined;
};

/** Repeats over new pids until a pass finds none. Returns the number of unreadable processes. */
const stopAll = async (batch: readonly PendingSweep[]): Promise<number> => {
  const byMarker = new Map(batch.map((target) => [target.marker, target]));
  const byDirectory = new Map(
    batch.flatMap((target) => (target.dir === undefined ? [] : [[target.dir, target]])),
  );
  const seen = new Set<number>();
  let unreadable = 0;
  for (let pass = 0; pass < SWEEP_PASSES_MAX; pass += 1) {
    let isQuiet = true;
    const stop = (target: PendingSweep, pid: number, start_time: string): void => {
      const isLauncher = pid === target.launcher.pid && start_time === target.launcher.start_time;
      if (isLauncher || target.found.has(pid)) return;
      const identity = identityOf(pid, start_time);
      if (!isAlive(identity)) return;
      signalProcess(identity, "SIGSTOP");
      target.found.set(pid, identity);
      isQuiet = false;
    };
    await eachEnvironment(
      listPids().filter((pid) => !seen.has(pid)),
      (pid, block) => {
        seen.add(pid);
        if (block === "EACCES" || block === "EPERM" || block === IN_EXEC) unreadable += 1;
        const target =
          typeof block === "string"
            ? undefined
            : (byMarker.get(markerIn(block) ?? "") ?? byDirectory.get(spoolsOf(pid) ?? ""));
        const stat = target && readStat(pid);
        if (target && stat) stop(target, pid, stat.start_time);
      },
    );
    await stopDescendants(batch, stop);
    if (isQuiet && pass > 0) break;
  }
  return unreadable;
};

/** The run directory of a process's stdout or stderr: only processes of the run have their output there. */
const spoolsOf = (pid: number): string | undefined => {
  for (const [fd, name] of [
    [1, "stdout"],
    [2, "stderr"],
  ] as const) {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
      if (basename(path) === name) return dirname(path);
    } catch {
      // Closed, gone, or not permitted.
    }
  }
  return undefined;
};

/**
 * Stops descendants, which may have no marker, of found and recorded processes. Most runs leave nothing, and
 * then no table is read.
 */
const stopDescendants = async (
  batch: readonly PendingSweep[],
  stop: (target: PendingSweep, pid: number, start_time: string) => void,
): Promise<void> => {
  const known = batch
    .map((target) => ({ target, roots: knownOf(target) }))
    .filter(({ roots }) => [...roots].some(([pid, start]) => isAlive(identityOf(pid, start))));
  if (known.length === 0) return;
  const kinship = kinshipOf(await readTable());
  for (const { target, roots } of known) {
    for (const [pid, start] of descendantsOf(kinship, target.launcher.pid, roots)) stop(target, pid, start);
  }
};

const knownOf = ({ launcher, recorded, found }: PendingSweep): Map<number, string> => {
  const known = new Map(recorded);
  // A sub-reaper has every process of its run below it.
  if (isAlive(launcher) && hasChildren(launcher.pid)) known.set(launcher.pid, launcher.start_time);
  for (const { pid, start_time } of found.values()) known.set(pid, start_time);
  return known;
};

export const hasChildren = (pid: number): boolean => {
  const children = readProc(`/proc/${pid}/task/${pid}/children`);
  return typeof children !== "string" && children.length > 0;
};

const killFound = async (target: PendingSweep, unreadable: number | undefined): Promise<SweepReport> => {
  const { found } = target;
  if (found.size > 0) crashPoint("sweep-before-kill");
  for (const identity of found.values()) signalProcess(identity, "SIGKILL");
  let survivors = [...found.values()].filter(isAlive);
  const deadline = performance.now() + SWEEP_KILL_WAIT_MS;
  while (survivors.length > 0 && performance.now() < deadline) {
    await sleep(1);
    survivors = survivors.filter(isAlive);
  }
  return {
    method: "marker",
    unreadable: unreadable ?? 1,
    survivors: survivors.map(({ pid }) => pid),
    killed: found.size - survivors.length,
    checked_by: unreadable === undefined ? [] : placesOf(target),
  };
};

/**
 * The places that were searched. A launcher that is not a sub-reaper misses descendants whose parents have
 * ended, so "descent" is not reported for it.
 */
const placesOf = ({
  dir,
  hasLauncher,
  keeps_orphans,
}: PendingSweep): NonNullable<SweepReport["checked_by"]> => [
  ...(hasLauncher ? (["group"] as const) : []),
  "marker",
  ...(dir === undefined ? [] : (["output"] as const)),
  ...(hasLauncher && keeps_orphans === true ? (["descent"] as const) : []),
];
