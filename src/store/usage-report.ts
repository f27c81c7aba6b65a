/** The question to the projection of usage, and its answer. Without SQLite's types: the library's declarations name it. */
import type { TokenCounts, Usage } from "../protocol/records.ts";

/** By what it is told apart; a label by its key. */
export type UsageBy = "day" | "kind" | "model" | "worker" | { readonly label: string };

export interface UsageQuery {
  readonly by: UsageBy;
  /** RFC 3339: turns that were completed then or later. */
  readonly since?: string | undefined;
  /** The ids of the workers that count; without it all workers there ever were. */
  readonly among?: UsageScope | undefined;
}

export interface UsageScope {
  readonly workers: readonly string[];
  /** With all that the agents of those have asked for, and those. */
  readonly descendants: boolean;
  /** Those of supervisors, by their paths, that were made since then (RFC 3339), and all that their agents have asked for, and those. */
  readonly supervisors: readonly { readonly path: string; readonly since: string }[];
}

/** Among several models in a turn, the one with the most output has the turn, its calls and its time. */
export interface UsageSum extends TokenCounts {
  /** That have completed a turn. */
  readonly workers: number;
  readonly turns: number;
  readonly tool_calls: number;
  /** Dollars as agents reported them; null where none did. */
  readonly cost_usd: number | null;
  /** Dollars by the price list, of what has no reported cost; null where nothing was estimated. Never a part of `cost_usd`. */
  readonly estimated_usd: number | null;
  /** Turns, or a model's parts of them, with neither: what they cost nobody knows, and it is in neither sum. */
  readonly unpriced: number;
  /** The time of all turns together, the pauses in them too. */
  readonly duration_ms: number;
}

export interface UsageRow extends UsageSum {
  /** A day in UTC, a kind, a model, a worker's id, or a label's value; null where it is not known or not there. */
  readonly key: string | null;
  /** The name of a worker that has one. */
  readonly name?: string;
}

export interface UsageReport {
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
  /** Rows beyond USAGE_ROWS_MAX; the total has them. */
  readonly omitted: number;
  /** Models of what is unpriced, at most USAGE_UNPRICED_NAMED_MAX; null is one without a name. */
  readonly unpriced_models: readonly (string | null)[];
}

/** The sum of a worker and all below it, from their rows. */
export interface SubtreeSum {
  readonly workers: number;
  readonly turns: number;
  readonly tool_calls: number;
  /** The time of all turns together. */
  readonly turn_ms: number;
  readonly unpriced_turns: number;
  /** Tokens as the CLIs count them. */
  readonly usage: Usage;
}
