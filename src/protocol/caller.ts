/** The caller of a request: what the daemon knows about the process at the other end of the connection. */

export type Caller =
  /** A process outside every run: a person or a person's program. With the name of the token that it presented. */
  | { readonly type: "user"; readonly name?: string }
  /** A process inside a run of this worker. Without an incarnation, only the process itself has said so. */
  | { readonly type: "worker"; readonly worker_id: string; readonly incarnation?: number | undefined }
  /** The process was gone before the daemon could look, or is invisible from here, or the daemon itself started it. */
  | { readonly type: "unknown"; readonly of_daemon?: true };

/** The `by` of what the daemon does by itself. */
export const DAEMON = "daemon";

export const USER: Caller = { type: "user" };
export const UNKNOWN: Caller = { type: "unknown" };
/** A program that the daemon itself runs, a filter of git for example. */
export const OF_DAEMON: Caller = { type: "unknown", of_daemon: true };

/** The caller as records spell it. */
export const byOf = (caller: Caller): string =>
  caller.type === "worker"
    ? `worker:${caller.worker_id}`
    : caller.type === "user" && caller.name !== undefined
      ? `user:${caller.name}`
      : caller.type;

/** A token names a user, and nobody else: an agent that presents one stays the worker's agent that it is. */
export const named = (caller: Caller, name: string | undefined): Caller =>
  caller.type === "user" && name !== undefined ? { type: "user", name } : caller;

/** The process at the other end of a connection. */
export interface Peer {
  /** Undefined if this machine does not report it; 0 if the peer's pid namespace is not below the daemon's. */
  readonly pid: number | undefined;
  /** When it connected, on the clock that the process table uses for start times. */
  readonly connected_s: number;
  /** The run marker that the peer claims to have. */
  readonly claimed: string | undefined;
}
