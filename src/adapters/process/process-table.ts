/**
 * The process table, read in slices, and who descends from whom. A tool that an agent started with a new session and
 * an empty environment is found only through its parent, so descendants are recorded while the parent still lives
 * (architecture §5, Stop ladder).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { SCAN_SLICE_MS } from "../../base/limits.ts";
import { isDeadState, listPids, type ProcessStat, readStat } from "./identity.ts";

export type ProcessTable = ReadonlyMap<number, ProcessStat>;

/** pid → start time: processes that can be recognised again. */
export type KnownProcesses = ReadonlyMap<number, string>;

/** Visit each, and let other work run every SCAN_SLICE_MS. */
export const inSlices = async <T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> => {
  let since = performance.now();
  for (const item of items) {
    visit(item);
    if (performance.now() - since < SCAN_SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
};

export const readTable = async (): Promise<ProcessTable> => {
  const table = new Map<number, ProcessStat>();
  await inSlices(listPids(), (pid) => {
    const stat = readStat(pid);
    if (stat !== undefined) table.set(pid, stat);
  });
  return table;
};

/** Children by parent, and members by session: made once for all runs of a table. */
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

/**
 * An agent may have started the daemon that looks here, after a crash of the one before: neither it nor what it launches belongs to that
 * agent. Nobody else is left out: what a process says of itself, anybody can say.
 */
const isThisDaemon = ({ pid }: ProcessStat): boolean => pid === process.pid;

/**
 * The living ones of `known` and all that descends from them, or shares the session that `leader` began, up to this daemon.
 * A process that the table shows with another start time leads to nothing, and a session is trusted only as long as a
 * known process is in it: its number cannot be given away before.
 */
export const descendantsOf = (
  { table, children, sessions }: Kinship,
  leader: number,
  known: KnownProcesses,
  isApart: (stat: ProcessStat) => boolean = isThisDaemon,
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

/** Current members of a process group; nobody unless a known process vouches that the group is still this one. */
export const groupMembers = (table: ProcessTable, pgid: number, known: KnownProcesses): ProcessStat[] => {
  const members = [...table.values()].filter((stat) => stat.pgrp === pgid);
  const isOurs = members.some(({ pid, start_time }) => known.get(pid) === start_time);
  return isOurs ? members.filter(({ state }) => !isDeadState(state)) : [];
};
