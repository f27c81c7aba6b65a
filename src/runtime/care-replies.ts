/** The answers of `prune` and `rename`: the JSON that the socket carries and the library returns. */
import type { WorkerStatus } from "../protocol/worker.ts";

export interface PrunedWorker {
  readonly id: string;
  readonly name: string | null;
  readonly status: WorkerStatus;
  readonly ended_at: string | null;
  readonly freed_bytes: number;
  /** Its worktree, which goes too; null if it has none. */
  readonly worktree: string | null;
}

/** A worker that is kept, because something would be lost or could not be removed. */
export interface KeptWorker {
  readonly id: string;
  readonly name: string | null;
  readonly code: string;
  readonly reason: string;
}

export interface PruneReply {
  readonly effect: "deleted" | "would_delete" | "noop";
  readonly workers: readonly PrunedWorker[];
  readonly kept: readonly KeptWorker[];
  readonly freed_bytes: number;
  /** The id of the last worker that was checked, if more may match: the next request goes on after it. */
  readonly cursor?: string;
}

export interface RenameReply {
  readonly id: string;
  readonly name: string;
  readonly before: string | null;
  readonly effect: "updated" | "noop";
}
