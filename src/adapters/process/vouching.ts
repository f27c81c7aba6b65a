/**
 * Decides whether a process named by a file of the run directory belongs to the run
 * (docs/explanation/security.md). The agent can write those files, so the log decides. If the log names no
 * process yet, the process table decides: a process belongs to the run if the launcher is its parent or leads
 * its session, or if it carries the run's marker. No other process is ever signalled.
 */
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WORDLESS_LOOK_PAUSE_MS, WORDLESS_LOOKS_MAX } from "../../base/limits.ts";
import type { RecordedProcesses } from "../../protocol/incarnation.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { RunFinding } from "../posix.ts";
import {
  identityOf,
  isAlive,
  isDeadState,
  NO_PROCESS,
  type ProcessStat,
  readProc,
  readStat,
} from "./identity.ts";
import { eachEnvironment, markerIn } from "./marker.ts";
import { kinshipOf, readTable } from "./process-table.ts";
import { readIdentity } from "./run-directory.ts";

/**
 * Finds files that name a process other than the log does; the log is right. An unknown process contradicts
 * nothing.
 */
export const contradictionsIn = (dir: string, known: RecordedProcesses): readonly RunFinding[] =>
  (["claimed", "pid"] as const).flatMap((file) => {
    const one = file === "pid" ? known.agent : known.launcher;
    const said = one.pid === NO_PROCESS ? undefined : readIdentity(dir, file, one);
    if (said === undefined || isSame(said, one)) return [];
    const detail = `it names pid ${said.pid}; the log names pid ${one.pid}`;
    return [{ file, what: "contradicts_the_log", detail }];
  });

export const isSame = (a: ProcessIdentity, b: ProcessIdentity): boolean =>
  a.pid === b.pid && a.start_time === b.start_time;

export const carriesMarker = async ({ pid }: ProcessIdentity, marker: string): Promise<boolean> => {
  let carries = false;
  await eachEnvironment([pid], (_pid, block) => {
    carries = typeof block !== "string" && markerIn(block) === marker;
  });
  return carries;
};

const isOfLauncher = ({ ppid, session }: ProcessStat, launcher: ProcessIdentity): boolean =>
  ppid === launcher.pid || session === launcher.pid;

/** Whether the known launcher proves it. A dead process needs no proof, because it is never signalled. */
export const isVouchedBy = (named: ProcessIdentity, launcher: ProcessIdentity): boolean => {
  // Checked first: a launcher ends after its agent, so a living agent must have a living launcher.
  const hasLauncher = launcher.pid !== NO_PROCESS && isAlive(launcher);
  const stat = named.pid === NO_PROCESS ? undefined : readStat(named.pid);
  if (stat?.start_time !== named.start_time || isDeadState(stat.state)) return true;
  return hasLauncher && isOfLauncher(stat, launcher);
};

export const isOfRun = async (
  named: ProcessIdentity,
  launcher: ProcessIdentity,
  marker: string,
): Promise<boolean> =>
  isVouchedBy(named, launcher) ||
  isSame(named, launcher) ||
  (await carriesMarker(named, marker)) ||
  // The process ended during the check, and then shows no marker.
  !isAlive(named);

const wordsOf = (pid: number): readonly string[] =>
  readProc(`/proc/${pid}/cmdline`).toString("latin1").split("\0");

/** Processes that the launcher starts besides the agent; both start before it. */
const isHelper = (pid: number): boolean => {
  const [program, option, script] = wordsOf(pid);
  if (program === "mkfifo") return true;
  return (program === "tail" && option === "-c") || script?.startsWith("# holdfast lifeline") === true;
};

/**
 * Whether this is the run's helper that feeds the agent's stdin, or is gone and thus never signalled. A process shows no
 * words and no variables while it begins a program, and from a SIGKILL until it is a zombie, so it is looked at again.
 */
export const isPumpOf = async (
  named: ProcessIdentity,
  launcher: ProcessIdentity,
  marker: string,
  dir: string,
  words: (pid: number) => readonly string[] = wordsOf,
): Promise<boolean> => {
  for (let look = 1; look <= WORDLESS_LOOKS_MAX; look += 1) {
    const said = words(named.pid);
    if ((await isOfRun(named, launcher, marker)) && isPump(said, dir)) return true;
    if (!isAlive(named)) return true;
    if (said.some((word) => word !== "")) return false;
    await wait(WORDLESS_LOOK_PAUSE_MS);
  }
  return false;
};

export const forgedPump = ({ pid }: ProcessIdentity): RunFinding => ({
  file: "pump",
  what: "forged",
  detail: `it names pid ${pid}, which does not belong to this run`,
});

/**
 * The pump reads the run's stdin file, and is a copy of the launcher before its exec. Only the end of the
 * path is compared, because the state directory may have had another name then.
 */
const isPump = (words: readonly string[], dir: string): boolean => {
  const run = join("/", basename(dirname(dir)), basename(dir));
  return words.some((word) => word.endsWith(run) || word.endsWith(`${run}/stdin`));
};

/**
 * The launcher's first child that is not a helper: its agent, whatever a file says. Undefined if it has none.
 */
export const agentBelow = async (launcher: ProcessIdentity): Promise<ProcessIdentity | undefined> => {
  if (launcher.pid === NO_PROCESS || !isAlive(launcher)) return undefined;
  const { children } = kinshipOf(await readTable());
  const [first] = (children.get(launcher.pid) ?? [])
    .filter(({ pid }) => !isHelper(pid))
    .sort((a, b) => Number(a.start_time) - Number(b.start_time) || a.pid - b.pid);
  return first === undefined ? undefined : identityOf(first.pid, first.start_time);
};
