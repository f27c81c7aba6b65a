/** The histories that a log has had. Without SQLite's types: the library's declarations name them. */
import type { Break } from "../protocol/cursor.ts";

/** An epoch that is over, and how it ended. */
export interface FormerEpoch extends Break {
  readonly epoch: string;
  /** Epoch milliseconds. */
  readonly ended_ms: number;
}

export interface History {
  readonly store_id: string;
  readonly epoch: string;
  /** Oldest first. */
  readonly former: readonly FormerEpoch[];
}

/** `seq` is good in the log's own history. */
export const isOfHistory = (
  { epoch, former }: Pick<History, "epoch" | "former">,
  of: string,
  seq: number,
): boolean => of === epoch || former.some((one) => one.epoch === of && seq <= one.up_to);
