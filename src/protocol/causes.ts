/** The causes that records give for an end, a pause or a start. */

/** The external cause that ended an agent, if neither the agent itself nor a stop did. */
export type ExitCause = "supervisor_died" | "lease_lost" | "machine_restarted" | "out_of_memory";
/**
 * Why no incarnation follows one that ended by itself: its policy does not restart it, no restart could help, the restart
 * window was passed, the provider's rate limit was reached too often in a row, or its deadline has passed. Absent if something else
 * ended it, and in early records.
 */
export type EndCause = "policy" | "unfixable" | "gave_up" | "rate_limited" | "deadline";
/** The cause of a pause: a person, its budget, its output quota, or too little free disk. */
export type PauseReason = "operator" | "budget" | "output" | "disk";

export type ExitReason = "exited" | "signalled" | "start_failed" | "unknown";

/** How a daemon begins, by the way in which the previous one ended. */
export type StartKind = "first" | "after_stop" | "after_crash" | "after_reboot";

/** A limit that ended a worker or its incarnation: of time, of one of its budgets, or of its output. */
export type WorkerLimit =
  | "timeout"
  | "deadline"
  | "stall"
  | "tool"
  | "ready"
  | "turns"
  | "tokens"
  | "usd"
  | "wall"
  | "restarts"
  | "output"
  | "output_bytes";
