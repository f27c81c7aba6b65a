/**
 * Statuses of a worker on the wire and how one may follow another (protocol-v1 notes 2.6). A terminal one is final for its attempt;
 * what comes after it is an attempt of its own, begun by a `worker_spawn_requested`.
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
  // Whoever reads from the middle knows nothing of what was before.
  unknown: ["pending", "starting", "running", "stopping", "completed", "failed", "cancelled"],
  // The document has the first alone: ours is killed, or given up, also before it was ever started.
  pending: ["starting", "failed", "cancelled"],
  // The document has the first two: ours is stopped while it starts.
  starting: ["running", "failed", "stopping", "cancelled"],
  running: ["stopping", "completed", "failed", "cancelled"],
  // The last one is missing in the text, and the original does it.
  stopping: ["completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** A status may be told again, also a terminal one: it is the same fact. */
export const mayFollow = (from: RunStatus, to: RunStatus): boolean =>
  from === to || TRANSITIONS[from].includes(to);
