/**
 * Interprets the exit status that a shell reports (architecture §5, Launcher). 137 may be `exit 137` or a
 * SIGKILL, so the raw status is kept, and a signal that we did not send is marked as inferred.
 */
import { constants } from "node:os";
import type { RunExit } from "../../protocol/incarnation.ts";

/**
 * Signals that end a process: a status over 128 is read as one of these. Others are exit codes, because no
 * process dies of SIGCHLD (145) or SIGSTOP (147), which gemini exits with for HTTP errors.
 */
const DEADLY = [
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGILL",
  "SIGTRAP",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGKILL",
  "SIGUSR1",
  "SIGSEGV",
  "SIGUSR2",
  "SIGPIPE",
  "SIGALRM",
  "SIGTERM",
  "SIGXCPU",
  "SIGXFSZ",
  "SIGSYS",
] as const;

const byStatus = new Map<number, string>(DEADLY.map((name) => [128 + constants.signals[name], name]));

export interface ExitSeen {
  /** The status that the launcher wrote; null if it could not write one. */
  readonly raw_status: number | null;
  /** The launcher's shell could not exec the program. */
  readonly exec_failed: boolean;
  /** Signals that we sent to this run. */
  readonly signals_sent: readonly string[];
  /** The lifeline ended the run because the daemon had died. */
  readonly supervisor_died?: boolean;
  /** The guard ended the run because its node of a cluster had no lease. */
  readonly lease_lost?: boolean;
  /** The run began in another boot of this machine. */
  readonly other_boot?: boolean;
  /** Whether the kernel sent a SIGKILL for lack of memory. Called only for a SIGKILL that is not ours. */
  readonly was_out_of_memory?: () => boolean;
}

export const decideExit = (seen: ExitSeen): RunExit => {
  const exit = decideStatus(seen);
  if (exit.reason === "start_failed") return exit;
  if (seen.supervisor_died === true) return { ...exit, cause: "supervisor_died" };
  if (seen.lease_lost === true) return { ...exit, cause: "lease_lost" };
  if (exit.signal === "SIGKILL" && exit.signal_inferred && seen.was_out_of_memory?.() === true)
    return { ...exit, cause: "out_of_memory" };
  // A launcher that wrote its exit ended before the reboot.
  return seen.other_boot === true && exit.reason === "unknown"
    ? { ...exit, cause: "machine_restarted" }
    : exit;
};

const decideStatus = ({ raw_status, exec_failed, signals_sent }: ExitSeen): RunExit => {
  const nobodyKnows = { exit_code: null, signal: null, signal_inferred: false, raw_status };
  if (exec_failed) return { ...nobodyKnows, reason: "start_failed" };
  if (raw_status === null) return { ...nobodyKnows, reason: "unknown" };
  const signal = byStatus.get(raw_status);
  if (signal === undefined) return { ...nobodyKnows, exit_code: raw_status, reason: "exited" };
  if (signals_sent.includes(signal)) return { ...nobodyKnows, signal, reason: "signalled" };
  return { exit_code: raw_status, signal, signal_inferred: true, raw_status, reason: "signalled" };
};

/** The content of the file `exit`: a status and a line end; undefined for anything else. */
export const parseStatus = (text: string): number | undefined => {
  const status = /^(\d{1,3})\n$/.exec(text)?.[1];
  return status === undefined || Number(status) > 255 ? undefined : Number(status);
};
