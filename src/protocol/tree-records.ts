/** Records of a tree: its supervisors and its shape. */
import type { SupervisorConfig } from "./tree.ts";

/** Why a supervisor ended. OTP reports `shutdown` to the parent in every case. */
export type SupervisorEnd =
  | "intensity"
  | "start_failed"
  | "auto_shutdown"
  | "killed"
  | "held"
  | "removed"
  | "down";

/** How a user wants workers to be stopped, if not as their specs say. */
export interface StopHow {
  readonly grace_ms?: number;
  /** The first signal. */
  readonly signal?: string;
}

/** The work of a supervisor on some of its children: it stops them in reverse order, then starts them in order. */
export interface SupervisorOperation {
  readonly kind: "start" | "restart" | "stop";
  readonly stage: "stopping" | "starting";
  /** Names of the children that it concerns. */
  readonly scope: readonly string[];
  /** The children in `scope` that are stopped and started; the others have been started already, and the operation waits for them. Absent: all. */
  readonly anew?: readonly string[];
  /** The start waits this long (backoff), from the time of the record. */
  readonly delay_ms: number;
  /** With `stop`: why the supervisor ends afterwards. */
  readonly end?: SupervisorEnd;
  readonly how?: StopHow;
  /** A user asked for it: its starts count in no window, and a failed first start does not affect the supervisor. */
  readonly asked?: boolean;
}

export interface TreeWorkerRef {
  readonly type: "worker";
  readonly name: string;
  readonly worker_id: string;
  readonly depends_on: readonly string[];
}

export interface TreeSupervisorRef {
  readonly type: "supervisor";
  readonly name: string;
  readonly config: SupervisorConfig;
  readonly depends_on: readonly string[];
  readonly children: readonly TreeRef[];
}

/** The recorded shape of a tree: its workers by id. Their specs are in their own streams. */
export type TreeRef = TreeSupervisorRef | TreeWorkerRef;
