/**
 * The port to what all nodes of a cluster share. Each call is one transaction. A fence that does not hold changes nothing, and the
 * answer says so; a rejection leaves open whether the call took effect.
 */
import type { LeasedBudget } from "./budgets.ts";
import type { ClusterView, HeldRight, NewNode, NewPlacement, NodeFence, RunFence } from "./rows.ts";

/** A record of a daemon's log, as it is copied. */
export interface CopiedRecord {
  /** Dense in its log, from 1. */
  readonly seq: number;
  /** Null where it is of no placed worker. */
  readonly run: { readonly worker: string; readonly term: number } | null;
  /** The record, as canonical JSON: one line. */
  readonly text: string;
}

export interface StreamPage {
  readonly records: readonly CopiedRecord[];
  /** The place of the last one, for the next page; null at the end. */
  readonly next: number | null;
}

export interface LogName {
  readonly store_id: string;
  readonly epoch: string;
}

export interface ClusterStore {
  /**
   * The node's new term, or undefined while a node of its name lives. The same session is answered alike again, so that a lost answer
   * keeps nobody out; one that has left joins no more, so that a join which comes late brings nobody back.
   */
  join(node: NewNode, session: string): Promise<number | undefined>;
  renew(fence: NodeFence): Promise<boolean>;
  /** No further worker is placed there, and its own move; `false` takes that back. */
  drain(node: string, isDraining: boolean): Promise<boolean>;
  /** Only a node without workers leaves. */
  leave(fence: NodeFence): Promise<boolean>;
  /** The node's lease is over, if it has not beaten since. */
  bury(node: string, term: number, beat: number): Promise<boolean>;
  /** A person knows that the machine of a dead node is gone: what went on there without a lease may be placed anew. */
  declareGone(node: string): Promise<boolean>;
  view(node: string): Promise<ClusterView>;
  /** False where the worker has a placement, or a tombstone. */
  place(placement: NewPlacement): Promise<boolean>;
  /** `seen_term` is raised by one, and the worker is the node's. Waits for writes of the old term that have begun. */
  claim(worker: string, seen_term: number, to: NodeFence): Promise<boolean>;
  /** The worker went on here without a lease: the node's new term holds it. */
  adopt(run: RunFence): Promise<boolean>;
  /** The worker may be placed elsewhere, if it has not been started since. */
  release(run: RunFence, seen_starts: number): Promise<boolean>;
  /** Whether the worker may be started; if so, its starts are raised by one. */
  begin(run: RunFence): Promise<boolean>;
  /** It shall not run again. */
  end(run: RunFence): Promise<boolean>;
  /** A tombstone, also for a worker that nobody has placed. */
  kill(worker: string): Promise<void>;
  /**
   * Copies consecutive records, each once. One whose term has been claimed away since is kept for the log's sake, and no stream of a
   * worker has it. The answer is the last seq up to which none is missing: records after a gap are not taken.
   */
  append(node: string, log: LogName, records: readonly CopiedRecord[]): Promise<number>;
  /** A page of a worker's records, in the order of their copying: after a claim, all that there will ever be of the terms before. */
  stream(worker: string, after: number): Promise<StreamPage>;
  /**
   * The change of a budget is decided while nobody else changes it. Without `after` it stays as it is. Rejects with RightOverError if
   * there is a `right`, and the worker has another term or node by now.
   */
  withBudget<Result>(
    name: string,
    change: (before: LeasedBudget | undefined) => {
      readonly after?: LeasedBudget | undefined;
      readonly result: Result;
    },
    right?: HeldRight,
  ): Promise<Result>;
}
