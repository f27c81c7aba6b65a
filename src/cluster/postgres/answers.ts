/** Answers of a cluster's database about its placements, as nodes and people ask for them. */
import type { Killer, Placement } from "../rows.ts";
import type { OwnedRow } from "../tree.ts";

/** A node searches there for what is left of a run. */
export type SearchedPlaces = readonly ("cgroup" | "group" | "marker" | "output" | "descent")[];

export interface PlacedRow
  extends Pick<Placement, "worker" | "desired" | "node" | "spec_digest">,
    Pick<OwnedRow, "over" | "worker_id"> {
  /** Why its node could not start it. */
  readonly why: string | null;
  readonly killer: Killer | null;
  /** How its node searched for what was left of it. */
  readonly checked_by: SearchedPlaces | null;
}

/** Another worker may have its name by now. */
export interface RequestedRow extends Omit<PlacedRow, "killer" | "checked_by"> {
  readonly is_reused: boolean;
}

export interface KilledRow extends Pick<Placement, "worker" | "term"> {
  readonly killer: Killer | null;
}

/** Records as texts. */
export interface BroughtRows {
  /** Null where nothing was copied. */
  readonly newest: string | null;
  readonly records: readonly string[];
  /** Those that say in which turn it ended, newest first. */
  readonly turn: readonly string[];
}

export type WaitingRow = Pick<Placement, "worker" | "needs" | "on_partition" | "node" | "node_term">;

export interface PlaceQuestionRow extends WaitingRow {
  readonly term: number;
  readonly asked_ms_ago: number;
  /** One for each question of all clusters. */
  readonly shared_id: string;
}

/** A worker that could not start on its node, or was not to start there again. */
export interface FailedRow {
  readonly name: string;
  readonly node: string;
  readonly why: string;
  readonly ended_ms_ago: number;
}
