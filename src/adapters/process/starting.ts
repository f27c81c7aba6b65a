/**
 * Waits until the agent's own program runs or has run, and identifies its process: the one that the launcher
 * made, whatever a file says.
 */
import { join } from "node:path";
import { statAt } from "../../base/files/regular-file.ts";
import {
  EXEC_POLL_MS,
  LAUNCHER_END_MS,
  PID_FILE_WAIT_MS,
  RUN_POLL_MS,
  START_TIMEOUT_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { RunFinding } from "../posix.ts";
import type { ChangeWatch } from "./change-watch.ts";
import { currentPlace, identityOf, isAlive, NO_PROCESS, NOBODY, readProc } from "./identity.ts";
import { LAUNCHER_CMDLINE } from "./launcher.ts";
import { hasExecFailed, readExitStatus, readIdentity } from "./run-directory.ts";
import { readTail } from "./tail.ts";
import { agentBelow, carriesMarker, isSame, isVouchedBy } from "./vouching.ts";

export interface Starting {
  readonly dir: string;
  readonly changes: ChangeWatch;
  readonly launcher: ProcessIdentity;
  readonly marker: string;
  readonly tell: (finding: RunFinding) => void;
}

/** The start took too long; the caller still has to end what was started. */
export class StartTimeout extends HoldfastError {}

/**
 * Resolves with the agent's identity. Rejects with the error that `failed` makes from the shell's message.
 */
export const agentOf = (
  program: string | undefined,
  starting: Starting,
  failed: (said: string) => HoldfastError,
): Promise<ProcessIdentity> =>
  new Promise((resolve, reject) => {
    const { dir, changes } = starting;
    const begun = performance.now();
    const deadline = begun + START_TIMEOUT_MS;
    let timer: NodeJS.Timeout | undefined;
    let isAsking = false;
    const again = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(look, ms);
    };
    let goneSince = 0;
    /**
     * A process that the agent left is a child of the launcher too, but is not the agent, so the exit gets
     * some time to appear first.
     */
    const isOverdue = (): boolean => {
      goneSince ||= performance.now();
      return performance.now() - goneSince > LAUNCHER_END_MS;
    };
    /**
     * If the agent named itself and ended while the table was read, the launcher's children are not the
     * agent.
     */
    const isStill = (said: ProcessIdentity): boolean => {
      const now = lookAtStart(starting, begun);
      return (now.kind === "doubtful" || now.kind === "gone") && isSame(now.said, said);
    };
    const look = (): void => {
      clearTimeout(timer);
      if (isAsking) return;
      const start = lookAtStart(starting, begun);
      if (start.kind === "started") resolve(start.agent);
      else if (start.kind === "failed") reject(failed(shellSaid(dir)));
      else if (performance.now() > deadline) reject(late(program));
      else if (start.kind === "doubtful" || (start.kind === "gone" && isOverdue())) ask(start.said);
      else again(start.kind === "gone" || start.isNamed ? EXEC_POLL_MS : RUN_POLL_MS);
    };
    const ask = (said: ProcessIdentity): void => {
      isAsking = true;
      agentInTable(said, starting)
        .catch(() => undefined)
        .then((agent) => {
          isAsking = false;
          if (agent === undefined || (agent.pid !== NO_PROCESS && !isStill(said))) return again(EXEC_POLL_MS);
          const detail = contradiction(said, readIdentity(dir, "pid", currentPlace()), agent);
          if (detail !== undefined) starting.tell({ file: "pid", what: "forged", detail });
          resolve(agent);
        });
    };
    changes.listener = (notice) => {
      if (notice !== "stdout" && notice !== "stderr") look();
    };
    look();
  });

const late = (program: string | undefined): StartTimeout =>
  new StartTimeout("EXEC_FAILED", `${program} was not started within ${START_TIMEOUT_MS / 1000} s.`);

const shellSaid = (dir: string): string => {
  try {
    return readTail(join(dir, "stderr"), 256);
  } catch {
    return "";
  }
};

type Start =
  | { readonly kind: "started"; readonly agent: ProcessIdentity }
  | { readonly kind: "failed" }
  /** The file names a process that the launcher did not make, or none. */
  | { readonly kind: "doubtful"; readonly said: ProcessIdentity }
  /**
   * The process that the file names is gone: it has ended and its exit is about to be written, or it was
   * never the agent.
   */
  | { readonly kind: "gone"; readonly said: ProcessIdentity }
  | { readonly kind: "waiting"; readonly isNamed: boolean };

/** Without free descriptors nothing can be seen, so the caller tries again. */
const lookAtStart = (starting: Starting, begun: number): Start => {
  try {
    return startOf(starting, begun);
  } catch {
    return { kind: "waiting", isNamed: false };
  }
};

/**
 * The agent may have replaced or removed its `pid` file before it was read. An empty file is about to be
 * written, so the process table is not read for it.
 */
const unnamed = (dir: string, begun: number): Start => {
  const there = statAt(join(dir, "pid"));
  const mayBeWritten = there === undefined || (there.isFile() && there.size === 0);
  return mayBeWritten && performance.now() - begun <= PID_FILE_WAIT_MS
    ? { kind: "waiting", isNamed: false }
    : { kind: "doubtful", said: NOBODY };
};

const startOf = ({ dir, changes, launcher }: Starting, begun: number): Start => {
  const hasEnded = readExitStatus(dir) !== undefined || !changes.launcherRuns;
  // Reported only after the launcher has ended, so that after a failed start nothing runs or writes.
  if (hasExecFailed(dir))
    return changes.launcherRuns ? { kind: "waiting", isNamed: false } : { kind: "failed" };
  const agent = readIdentity(dir, "pid", currentPlace());
  if (agent === undefined) return hasEnded ? { kind: "failed" } : unnamed(dir, begun);
  if (!isVouchedBy(agent, launcher)) return { kind: "doubtful", said: agent };
  if (hasEnded) return { kind: "started", agent };
  if (!isAlive(agent)) return { kind: "gone", said: agent };
  return runsOwnProgram(agent) ? { kind: "started", agent } : { kind: "waiting", isNamed: true };
};

/**
 * The agent's process begins as a copy of the launcher, so a different command line proves that exec
 * succeeded.
 */
const runsOwnProgram = ({ pid }: ProcessIdentity): boolean => {
  const cmdline = readProc(`/proc/${pid}/cmdline`);
  return (
    typeof cmdline !== "string" &&
    cmdline.length > 0 &&
    !cmdline.subarray(0, LAUNCHER_CMDLINE.length).equals(LAUNCHER_CMDLINE)
  );
};

/**
 * Undefined if the process table does not tell yet, or if the files do: both are read again. NO_PROCESS: the
 * agent is no longer known.
 */
const agentInTable = async (
  said: ProcessIdentity,
  { dir, launcher, marker, changes }: Starting,
): Promise<ProcessIdentity | undefined> => {
  const below = await agentBelow(launcher);
  if (below !== undefined) return runsOwnProgram(below) ? below : undefined;
  if (changes.launcherRuns) return undefined;
  // The launcher was killed, but its agent may live.
  if (await carriesMarker(said, marker)) return said;
  // The run has ended meanwhile: the file names a process that is not alive, which is accepted.
  const hasName =
    said.pid === NO_PROCESS ? readIdentity(dir, "pid", currentPlace()) !== undefined : !isAlive(said);
  return hasName ? undefined : identityOf(NO_PROCESS, "");
};

/**
 * An unknown agent contradicts nothing, but a living foreign process in the file was put there by somebody.
 */
const contradiction = (
  said: ProcessIdentity,
  written: ProcessIdentity | undefined,
  agent: ProcessIdentity,
): string | undefined => {
  if (agent.pid === NO_PROCESS)
    return said.pid === NO_PROCESS
      ? undefined
      : `it names pid ${said.pid}, which lives and does not belong to this run`;
  if (written === undefined) return `it names no process; the agent is pid ${agent.pid}`;
  return isSame(written, agent)
    ? undefined
    : `it names pid ${written.pid}, which does not belong to this run; the agent is pid ${agent.pid}`;
};
