/** A query of the usage projection, and its answer. No SQLite types, because the library's declarations use it. */
import type { Usage } from "../protocol/records.ts";
import type { TokenCounts } from "../protocol/token-counts.ts";

/** The grouping; a label is named by its key. */
export type UsageBy = "day" | "kind" | "model" | "worker" | { readonly label: string };

export interface UsageQuery {
  readonly by: UsageBy;
  /** Only turns completed at this time (RFC 3339) or later. */
  readonly since?: string | undefined;
  /** Only these workers. Default: every worker there ever was. */
  readonly among?: UsageScope | undefined;
}

export interface UsageScope {
  readonly workers: readonly string[];
  /** Include everything that their agents spawned, at any depth. */
  readonly descendants: boolean;
  /**
   * Workers of these supervisors, by path, that were created since then (RFC 3339), with everything that their agents
   * spawned, at any depth.
   */
  readonly supervisors: readonly { readonly path: string; readonly since: string }[];
}

/** A sum of usage. If a turn has several models, the one with the most output gets the turn, its calls and its time. */
export interface UsageSum extends TokenCounts {
  /** Workers that have completed a turn. */
  readonly workers: number;
  readonly turns: number;
  readonly tool_calls: number;
  /** Dollars as reported by agents; null if none were reported. */
  readonly cost_usd: number | null;
  /** Dollars by the price list for usage without a reported cost; null if nothing was estimated. Not part of `cost_usd`. */
  readonly estimated_usd: number | null;
  /**
   * Turns, or a model's parts of turns, with neither a reported cost nor an estimate. Their cost is unknown and in neither
   * sum.
   */
  readonly unpriced: number;
  /** Milliseconds of all turns together, pauses included. */
  readonly duration_ms: number;
}

export interface UsageRow extends UsageSum {
  /** A day in UTC, a kind, a model, a worker's id, or a label's value; null if it is unknown or missing. */
  readonly key: string | null;
  /** The worker's name, if it has one. */
  readonly name?: string;
}

export interface UsageReport {
  readonly rows: readonly UsageRow[];
  readonly total: UsageSum;
  /** The number of rows beyond USAGE_ROWS_MAX. The total includes them. */
  readonly omitted: number;
  /** Models of the unpriced usage, at most USAGE_UNPRICED_NAMED_MAX. Null stands for one without a name. */
  readonly unpriced_models: readonly (string | null)[];
}

/** The sum of a worker and everything below it, from their rows. */
export interface SubtreeSum {
  readonly workers: number;
  readonly turns: number;
  readonly tool_calls: number;
  /** Milliseconds of all turns together. */
  readonly turn_ms: number;
  readonly unpriced_turns: number;
  /** Usage, with tokens as the CLIs count them. */
  readonly usage: Usage;
}
