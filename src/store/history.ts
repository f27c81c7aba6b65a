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
