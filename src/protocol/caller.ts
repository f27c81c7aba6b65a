/** The caller of a request: what a daemon has found out about the process at the other end of a connection. */

export type Caller =
  /** A process outside of every run: a person, or a program of one. */
  | { readonly type: "user" }
  /** A process inside a run of this worker. Without an incarnation, where it has only said so. */
  | { readonly type: "worker"; readonly worker_id: string; readonly incarnation?: number | undefined }
  /** Its process was gone when it was looked for, or is not to be seen from here; or the daemon itself has run it. */
  | { readonly type: "unknown"; readonly of_daemon?: true };

export const USER: Caller = { type: "user" };
export const UNKNOWN: Caller = { type: "unknown" };
/** A program that the daemon runs itself, a filter of git say. */
export const OF_DAEMON: Caller = { type: "unknown", of_daemon: true };

/** As records have it. */
export const byOf = (caller: Caller): string =>
  caller.type === "worker" ? `worker:${caller.worker_id}` : caller.type;

/** The process at the other end of a connection. */
export interface Peer {
  /** Undefined where this machine does not say which it is; 0 where it is in a pid namespace that is not below the daemon's. */
  readonly pid: number | undefined;
  /** When it was connected, in the seconds in which the process table tells the start of a process. */
  readonly connected_s: number;
  /** The marker that it says it has. */
  readonly claimed: string | undefined;
}
