/**
 * Signals to a run's processes. A group signal reaches the launcher too, which traps it. Signals that it
 * cannot trap go by pid to every process except the launcher, which must live to write `exit` (architecture
 * §5, Stop ladder).
 */
import type { ProcessIdentity } from "../../protocol/records.ts";
import { identityOf, isAlive, knownHere, signalProcess } from "./identity.ts";
import { GROUP_SIGNALS } from "./launcher.ts";
import { groupMembers, type Kinship, type KnownProcesses } from "./process-table.ts";

export interface StopTargets {
  readonly launcher: ProcessIdentity;
  readonly agent: ProcessIdentity;
  /** Known descendants, inside or outside the group. */
  readonly recorded: KnownProcesses;
  /**
   * `agent` is a monitor that watches over the agent in its sandbox. If it were told to end, it would leave
   * the agent running.
   */
  readonly isMonitor?: boolean;
}

const isLauncher = ({ launcher }: StopTargets, pid: number): boolean => pid === launcher.pid;

const knownOf = ({ launcher, agent, recorded }: StopTargets): Map<number, string> =>
  new Map([...knownHere(launcher, agent), ...recorded]);

const byPid = (identities: Iterable<readonly [number, string]>, signal: NodeJS.Signals): number[] => {
  const signalled: number[] = [];
  for (const [pid, start_time] of identities) {
    if (signalProcess(identityOf(pid, start_time), signal)) signalled.push(pid);
  }
  return signalled;
};

const toGroup = (pgid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(-pgid, signal);
  } catch {
    return false;
  }
};

/**
 * For a helper that this process started as the leader of its own group and has not reaped, so that its pid
 * cannot be reused.
 */
export const signalOwnGroup = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid !== undefined) toGroup(pid, signal);
};

/**
 * Signals the group's members except the launcher, as the table has just shown them. Returns the pids
 * signalled.
 */
export const signalGroup = (
  run: StopTargets,
  kinship: Kinship,
  signal: NodeJS.Signals,
): readonly number[] => {
  const pgid = run.launcher.pid;
  const members = groupMembers(kinship.table, pgid, knownOf(run)).filter(({ pid }) => !isLauncher(run, pid));
  const pairs = members.map(({ pid, start_time }) => [pid, start_time] as const);
  const vouched = isAlive(run.launcher) || isAlive(run.agent);
  if (run.isMonitor === true) {
    const watched = pairs.filter(([pid]) => pid !== run.agent.pid);
    return byPid(watched.length === 0 ? pairs : watched, signal);
  }
  if (!GROUP_SIGNALS.has(signal) || !vouched) return byPid(pairs, signal);
  if (pairs.length === 0 || !toGroup(pgid, signal)) return [];
  // A stopped process acts on a signal only after it continues.
  if (signal === "SIGTERM" || signal === "SIGINT") toGroup(pgid, "SIGCONT");
  return pairs.map(([pid]) => pid);
};

/**
 * The agent, the group and every known descendant, except the launcher; parents come before known children.
 */
export const membersOf = (run: StopTargets, kinship: Kinship): Map<number, string> => {
  const members = knownOf(run);
  for (const { pid, start_time } of groupMembers(kinship.table, run.launcher.pid, members))
    members.set(pid, start_time);
  members.delete(run.launcher.pid);
  return members;
};

/** SIGKILL to all of them. */
export const killMembers = (run: StopTargets, kinship: Kinship): readonly number[] =>
  byPid(membersOf(run, kinship), "SIGKILL");
