/** The histories of a log. No SQLite types, because the library's declarations use it. */
import type { Break } from "../protocol/cursor.ts";

/** A past epoch, and how it ended. */
export interface FormerEpoch extends Break {
  readonly epoch: string;
  /** Epoch milliseconds. */
  readonly ended_ms: number;
}

export interface History {
  readonly store_id: string;
  readonly epoch: string;
  /** Past epochs, oldest first. */
  readonly former: readonly FormerEpoch[];
}

/** True if `seq` of the epoch `of` names the same record in the current history. */
export const isOfHistory = (
  { epoch, former }: Pick<History, "epoch" | "former">,
  of: string,
  seq: number,
): boolean => of === epoch || former.some((one) => one.epoch === of && seq <= one.up_to);
