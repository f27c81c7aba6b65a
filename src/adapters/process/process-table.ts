/**
 * Reads the process table in slices and finds descendants. A tool that an agent started in a new session with
 * an empty environment can be found only through its parent, so descendants are recorded while the parent
 * lives (architecture §5, Stop ladder).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { SCAN_SLICE_MS } from "../../base/limits.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { isDeadState, listPids, type ProcessStat, readStat } from "./identity.ts";

export type ProcessTable = ReadonlyMap<number, ProcessStat>;

/** pid → start time, so that a process can be recognised again. */
export type KnownProcesses = ReadonlyMap<number, string>;

/** Visits each item, and yields to other work every SCAN_SLICE_MS. */
export const inSlices = async <T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> => {
  let since = performance.now();
  for (const item of items) {
    visit(item);
    if (performance.now() - since < SCAN_SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
};

const NO_TABLE: ProcessTable = new Map();

/**
 * All processes. A process of an earlier table is read again only if its parent is gone, because it has another
 * parent only then. Its state and session may be as old as that table.
 */
export const readTable = async (earlier: ProcessTable = NO_TABLE): Promise<ProcessTable> => {
  const table = new Map<number, ProcessStat>();
  const pids = listPids();
  const listed = new Set(pids);
  await inSlices(pids, (pid) => {
    const known = earlier.get(pid);
    const stat = known !== undefined && listed.has(known.ppid) ? known : readStat(pid);
    if (stat !== undefined) table.set(pid, stat);
  });
  return table;
};

/** Children by parent, and members by session, built once for all runs of a table. */
export interface Kinship {
  readonly table: ProcessTable;
  readonly children: ReadonlyMap<number, readonly ProcessStat[]>;
  readonly sessions: ReadonlyMap<number, readonly ProcessStat[]>;
}

export const kinshipOf = (table: ProcessTable): Kinship => ({
  table,
  children: Map.groupBy(table.values(), (stat) => stat.ppid),
  sessions: Map.groupBy(table.values(), (stat) => stat.session),
});

/** pid → start time of the launchers of runs that this daemon watches. */
const launchers = new Map<number, string>();

export const watchLauncher = ({ pid, start_time }: ProcessIdentity): void => {
  launchers.set(pid, start_time);
};

export const unwatchLauncher = ({ pid, start_time }: ProcessIdentity): void => {
  if (launchers.get(pid) === start_time) launchers.delete(pid);
};

/**
 * An agent may have started this daemon, or one before it, after a crash. This daemon and the runs of both do not
 * belong to that agent, although its launcher is the parent of the runs once the daemon before is dead. No other
 * process is excluded, because a process can claim anything about itself.
 */
const isOfDaemon = ({ pid, start_time }: ProcessStat): boolean =>
  pid === process.pid || launchers.get(pid) === start_time;

/**
 * The living processes of `known`, all their descendants, and the session that `leader` began, except this
 * daemon and other runs. A process with another start time is ignored. A session counts only while a known process is in it,
 * because its number cannot be reused before.
 */
export const descendantsOf = (
  { table, children, sessions }: Kinship,
  leader: number,
  known: KnownProcesses,
  isApart: (stat: ProcessStat) => boolean = isOfDaemon,
): Map<number, string> => {
  const found = new Map<number, string>();
  const queue: ProcessStat[] = [];
  for (const [pid, start_time] of known) {
    const stat = table.get(pid);
    if (stat?.start_time === start_time) queue.push(stat);
  }
  if (queue.some(({ session }) => session === leader)) queue.push(...(sessions.get(leader) ?? []));
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next.pid) || (next.pid !== leader && isApart(next))) continue;
    found.set(next.pid, next.start_time);
    queue.push(...(children.get(next.pid) ?? []));
  }
  for (const pid of found.keys()) {
    if (isDeadState(table.get(pid)!.state)) found.delete(pid);
  }
  return found;
};

/**
 * Current members of a process group; empty unless a known process proves that the group id was not recycled.
 */
export const groupMembers = (table: ProcessTable, pgid: number, known: KnownProcesses): ProcessStat[] => {
  const members = [...table.values()].filter((stat) => stat.pgrp === pgid);
  const isOurs = members.some(({ pid, start_time }) => known.get(pid) === start_time);
  return isOurs ? members.filter(({ state }) => !isDeadState(state)) : [];
};
