/** A query of the usage projection, and its answer. No SQLite types, because the library's declarations use it. */
export type { SubtreeSum, UsageReport, UsageRow, UsageSum } from "../protocol/replies/usage.ts";

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
