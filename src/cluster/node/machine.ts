/** The port of a node of a cluster to its machine: the runs of its daemon, and what outlives the daemon. */
import type { KeptLease } from "../lease.ts";
import type { MemberRun } from "../member.ts";

/** `session` names the join that is under way, so that a lost answer to it keeps nobody out. */
export interface KeptMembership extends KeptLease {
  readonly session: string;
}

export type RunOfMember = Pick<MemberRun, "worker" | "term" | "on_partition">;

/** `starts`: those before, under any term. */
export type RunToStart = RunOfMember & Pick<MemberRun, "starts">;

export interface NodeMachine {
  /** Milliseconds of a clock that goes on in a suspend. */
  now(): number;
  newSession(): string;
  /** Durable when it returns, for the guard and the next daemon: nothing runs under a lease that is not kept. Throws if that failed: it is tried again. */
  keep(kept: KeptMembership): void;
  /** Ends what earlier runs of the worker left. */
  sweep(worker: string): Promise<void>;
  /**
   * Starts the run, and is done when it has ended. Right before the start `mayStart` says whether it still may: a process can stand
   * still for any time before that.
   */
  launch(run: RunToStart, mayStart: () => boolean): Promise<void>;
  /** Done when a run that an earlier daemon started has ended. `mayStart`: as for `launch`, for a further process of it. */
  ended(run: RunOfMember, mayStart: () => boolean): Promise<void>;
  /** Done when all processes of the worker have ended, and a search found no more. */
  stop(worker: string): Promise<void>;
  /** The same of all runs that stop without a lease. */
  stopAll(): Promise<void>;
  /** Done when all records of the worker are in the copy. */
  copied(worker: string): Promise<void>;
}
