/**
 * Finds the run of a process from what the process table shows of it and its ancestors (decision 0033). Facts
 * that the kernel keeps come before facts that a process can change: a descendant of an agent cannot hide its
 * descent, but any process can set or remove a marker.
 */

import { readlinkSync } from "node:fs";
import { uptime } from "node:os";
import { basename, dirname, join } from "node:path";
import { LINEAGE_MAX, STAT_CLOCK_SLACK_S } from "../../base/limits.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { Evidence, ProcessOrigin, RelatedProcess } from "../posix.ts";
import type { RunId } from "../spawner.ts";
import { type ProcessStat, readProc, readStat } from "./identity.ts";
import { runOf } from "./living.ts";
import { markerIn, readEnvironment } from "./marker.ts";

/** The known facts about a living run, from its records and the snapshots of its descendants. */
export interface KnownRun extends RunId {
  /** Whether the process is its launcher, its agent, or one of their descendants. */
  owns(pid: number, start_time: string): boolean;
  /** Whether its launcher began this process group or session. */
  leads(group: number): boolean;
  readonly cgroup: string | undefined;
}

const OUTSIDE: ProcessOrigin = { type: "outside" };

/**
 * `lineage`: the process, then its ancestors. If one kind of evidence names two runs, the nearest process
 * decides. For markers the farthest one decides, because it was the hardest to change.
 */
export const originIn = (
  lineage: readonly RelatedProcess[],
  runs: readonly KnownRun[],
  { storeId, runsDir }: { readonly storeId: string; readonly runsDir: string },
): ProcessOrigin => {
  const first = (
    by: Evidence,
    find: (one: RelatedProcess) => RunId | undefined,
  ): ProcessOrigin | undefined => {
    for (const relative of lineage) {
      const run = find(relative);
      if (run !== undefined)
        return { type: "run", by, worker_id: run.worker_id, incarnation: run.incarnation };
    }
    return undefined;
  };
  const marked = lineage.findLast(({ marker = "" }) => runOf(marker, storeId) !== undefined);
  return (
    first("descent", ({ pid, start_time }) => runs.find((run) => run.owns(pid, start_time))) ??
    first("cgroup", ({ cgroup }) => runs.find((run) => isBelow(cgroup, run.cgroup))) ??
    first("group", ({ pgrp, session }) => runs.find((run) => run.leads(pgrp) || run.leads(session))) ??
    first("spool", ({ spools }) =>
      spools.map((dir) => runIn(runsDir, dir)).find((run) => run !== undefined),
    ) ??
    first("marker", (one) => (one === marked ? runOf(one.marker ?? "", storeId) : undefined)) ??
    OUTSIDE
  );
};

/**
 * Children of the daemon belong to a run, or are programs that the daemon runs itself: git, and programs that
 * git runs. An agent may have caused these, so they never count as the user. They can set markers and open
 * spools as they like, so that evidence counts only for a run that is starting.
 */
export const originBelowDaemon = (
  lineage: readonly RelatedProcess[],
  daemon: number,
  origin: ProcessOrigin,
  isStarting: (run: RunId) => boolean,
): ProcessOrigin => {
  if (lineage.at(-1)?.ppid !== daemon) return origin;
  if (origin.type !== "run") return { type: "daemon" };
  const isKept = origin.by !== "spool" && origin.by !== "marker";
  return isKept || isStarting(origin) ? origin : { type: "daemon" };
};

const isBelow = (path: string | undefined, dir: string | undefined): boolean =>
  path !== undefined && dir !== undefined && `${path}/`.includes(`/${basename(dir)}/`);

/** `<runs>/<worker>/<incarnation>` */
const runIn = (runsDir: string, dir: string): RunId | undefined => {
  const incarnation = Number(basename(dir));
  const worker_id = basename(dirname(dir));
  const isOurs = join(runsDir, worker_id, String(incarnation)) === dir && Number.isSafeInteger(incarnation);
  return isOurs ? { worker_id, incarnation } : undefined;
};

/**
 * The start time of a living process. Undefined if it is gone, or if it began later than `before_s` (seconds since boot):
 * then its pid was reused.
 */
export const startOf = (pid: number, before_s = Number.POSITIVE_INFINITY): string | undefined => {
  const stat = readStat(pid);
  return stat === undefined || !isThere(stat, before_s) ? undefined : stat.start_time;
};

const isThere = ({ state, start_time }: ProcessStat, before_s: number): boolean =>
  !isDead(state) && Number(start_time) / TICKS_A_SECOND <= before_s + STAT_CLOCK_SLACK_S;

/**
 * The process and its ancestors as /proc shows them now, up to `until` (the daemon) or init. Undefined if the
 * process is gone, or if it began later than `before_s` (seconds since boot): then its pid was reused.
 */
export const lineageOf = (
  pid: number,
  until: number,
  before_s = Number.POSITIVE_INFINITY,
): readonly RelatedProcess[] | undefined => {
  const found: RelatedProcess[] = [];
  const seen = new Set<number>([0, until]);
  for (let at = pid; !seen.has(at) && found.length < LINEAGE_MAX; ) {
    seen.add(at);
    const stat = readStat(at);
    if (stat === undefined) break;
    if (at === pid && !isThere(stat, before_s)) return undefined;
    const { ppid, start_time, pgrp, session } = stat;
    found.push({ pid: at, ppid, start_time, pgrp, session, ...tiesOf(at) });
    at = ppid;
  }
  return found.length === 0 ? undefined : found;
};

/** Whether a process is this one or descends from it, as /proc shows it now. */
export const descendsFrom = (pid: number, { pid: root, start_time }: ProcessIdentity): boolean => {
  if (readStat(root)?.start_time !== start_time) return false;
  let at = pid;
  for (let level = 0; at > 1 && at !== root && level < LINEAGE_MAX; level += 1) at = readStat(at)?.ppid ?? 0;
  return at === root;
};

/**
 * Seconds on the clock of /proc/PID/stat. In a container with its own uptime (LXCFS) it differs from
 * /proc/uptime; the start of this process shows by how much.
 */
export const statClock = (): (() => number) => {
  const own = readStat(process.pid);
  const began_s = uptime() - process.uptime();
  const offset_s = own === undefined ? 0 : Number(own.start_time) / TICKS_A_SECOND - began_s;
  return () => uptime() + (Math.abs(offset_s) > STAT_CLOCK_SLACK_S ? offset_s : 0);
};

/** USER_HZ, the unit of /proc/PID/stat: 100 on every machine that Node supports. */
const TICKS_A_SECOND = 100;

const isDead = (state: string): boolean => state === "Z" || state === "X";

const tiesOf = (pid: number): Pick<RelatedProcess, "marker" | "spools" | "cgroup"> => {
  const block = readEnvironment(pid);
  const marker = typeof block === "string" ? undefined : markerIn(block);
  const cgroup = readProc(`/proc/${pid}/cgroup`);
  return {
    marker,
    spools: [spoolOf(pid, 1, "stdout"), spoolOf(pid, 2, "stderr")].filter((dir) => dir !== undefined),
    cgroup: typeof cgroup === "string" ? undefined : /^0::(\/.*)$/m.exec(cgroup.toString("latin1"))?.[1],
  };
};

const spoolOf = (pid: number, fd: number, name: string): string | undefined => {
  try {
    const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
    return basename(path) === name ? dirname(path) : undefined;
  } catch {
    // Closed, gone, or not permitted.
    return undefined;
  }
};
