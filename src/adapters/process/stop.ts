/**
 * Signals to a run's processes. A group signal reaches the launcher too, which traps it; whatever it cannot trap goes by
 * pid to everyone but the launcher, which must live to write `exit` (architecture §5, Stop ladder).
 */
import type { ProcessIdentity } from "../../protocol/records.ts";
import { identityOf, isAlive, knownHere, signalProcess } from "./identity.ts";
import { GROUP_SIGNALS } from "./launcher.ts";
import { groupMembers, type Kinship, type KnownProcesses } from "./process-table.ts";

export interface StopTargets {
  readonly launcher: ProcessIdentity;
  readonly agent: ProcessIdentity;
  /** Known descendants, in the group or out of it. */
  readonly recorded: KnownProcesses;
  /** `agent` watches over the agent in its sandbox, and would leave it alone if it were told to end. */
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

/** For a helper that this process has started as the leader of its own group, and has not reaped: its pid is nobody else's. */
export const signalOwnGroup = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid !== undefined) toGroup(pid, signal);
};

/** The group's members but its launcher, as the table of just now shows them. Returns who was signalled. */
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
  // A stopped process acts on a signal only once it goes on.
  if (signal === "SIGTERM" || signal === "SIGINT") toGroup(pgid, "SIGCONT");
  return pairs.map(([pid]) => pid);
};

/** The agent, the group and every known descendant, but the launcher; parents before their children, as far as is known. */
export const membersOf = (run: StopTargets, kinship: Kinship): Map<number, string> => {
  const members = knownOf(run);
  for (const { pid, start_time } of groupMembers(kinship.table, run.launcher.pid, members))
    members.set(pid, start_time);
  members.delete(run.launcher.pid);
  return members;
};

/** KILL to all of them. */
export const killMembers = (run: StopTargets, kinship: Kinship): readonly number[] =>
  byPid(membersOf(run, kinship), "SIGKILL");
