/** The facts of one incarnation on which decisions rest: its processes, its exit, its outcome. */
import type { AgentCompletion } from "./completion.ts";
import type { ExitCause, ExitReason, ProcessIdentity, WorkerError } from "./records.ts";

/** The key of a run, by which a fact that is told twice counts once. */
export interface RunId {
  readonly worker_id: string;
  readonly incarnation: number;
}

/** The processes of an incarnation as the log records them. */
export interface RecordedProcesses {
  readonly agent: ProcessIdentity;
  readonly launcher: ProcessIdentity;
}

export interface RunExit {
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** The shell's status cannot distinguish "killed by 9" from "exit 137": true unless we sent this signal. */
  readonly signal_inferred: boolean;
  readonly raw_status: number | null;
  readonly reason: ExitReason;
  readonly cause?: ExitCause;
}

/** Nobody saw how it ended. */
export const UNKNOWN_EXIT: RunExit = {
  exit_code: null,
  signal: null,
  signal_inferred: false,
  raw_status: null,
  reason: "unknown",
};

/** The outcome of an incarnation: the adapter's terminal event decides first, the exit code second. */
export interface IncarnationOutcome {
  readonly status: "completed" | "failed";
  readonly completion: AgentCompletion;
  readonly error?: WorkerError;
}
