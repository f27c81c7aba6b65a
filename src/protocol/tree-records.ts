/** Records of a tree, about its supervisors and its shape. */
import type { SupervisorConfig } from "./tree.ts";

/** Why a supervisor has ended. OTP tells its parent `shutdown` in every case. */
export type SupervisorEnd =
  | "intensity"
  | "start_failed"
  | "auto_shutdown"
  | "killed"
  | "held"
  | "removed"
  | "down";

/** How somebody wants workers to be stopped, where not as their specs say. */
export interface StopHow {
  readonly grace_ms?: number;
  /** The first signal. */
  readonly signal?: string;
}

/** The work of a supervisor on some of its children: stopping those in reverse order, then starting them in order. */
export interface SupervisorOperation {
  readonly kind: "start" | "restart" | "stop";
  readonly stage: "stopping" | "starting";
  /** Names of the children it is about. */
  readonly scope: readonly string[];
  /** Among these, the ones that are stopped and started; the others have been started before, and are waited for. Absent: all. */
  readonly anew?: readonly string[];
  /** The start waits so long (backoff), from the record's instant. */
  readonly delay_ms: number;
  /** With `stop`: why it ends afterwards. */
  readonly end?: SupervisorEnd;
  readonly how?: StopHow;
  /** Somebody asked for it: what it starts counts in no window, and a first start that fails does not concern its supervisor. */
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

/** A tree as it is on record: its workers by id, their specs in their own streams. */
export type TreeRef = TreeSupervisorRef | TreeWorkerRef;
