/**
 * The statuses of a worker on the wire, and their order (protocol-v1 notes 2.6). A terminal status is final for its attempt;
 * a `worker_spawn_requested` begins the next attempt.
 */

export type RunStatus =
  | "unknown"
  | "pending"
  | "starting"
  | "running"
  | "stopping"
  | "completed"
  | "failed"
  | "cancelled";

const TERMINAL: ReadonlySet<RunStatus> = new Set(["completed", "failed", "cancelled"]);
export const isTerminal = (status: RunStatus): boolean => TERMINAL.has(status);

const TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  // A reader that starts in the middle does not know the earlier status.
  unknown: ["pending", "starting", "running", "stopping", "completed", "failed", "cancelled"],
  // The document allows only the first. Our workers can also be killed, or fail, before their first start.
  pending: ["starting", "failed", "cancelled"],
  // The document allows only the first two. Our workers can also be stopped while they start.
  starting: ["running", "failed", "stopping", "cancelled"],
  running: ["stopping", "completed", "failed", "cancelled"],
  // The document omits the last one, but the original implementation allows it.
  stopping: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** A status may be repeated, even a terminal one. */
export const mayFollow = (from: RunStatus, to: RunStatus): boolean =>
  from === to || TRANSITIONS[from].includes(to);
