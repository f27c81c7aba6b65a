/** The rows of a cluster: who is a node, where each worker shall run, and under which terms (decision 0074). Pure. */

export type NodeLabels = Readonly<Record<string, string>>;

/**
 * `dead`: its lease is over, and workers that stop without one may be placed anew. `left`: it holds nothing, or a person said that its
 * machine is gone, so that all its workers may be placed anew.
 */
export type NodeState = "active" | "draining" | "dead" | "left";

/** While its node cannot reach the cluster, an agent stops within the lease, or it goes on and is never placed anew. */
export type PartitionPolicy = "stop" | "continue";

export interface ClusterNode {
  readonly id: string;
  /** The log of its daemon. */
  readonly store_id: string;
  readonly labels: NodeLabels;
  /** Workers that it takes. */
  readonly capacity: number;
  /** How other nodes and clients reach it, as an address of `--host`. */
  readonly endpoint: string;
  /** The fence of what it writes. Each join raises it. */
  readonly term: number;
  /** Each renewal raises it. Others measure its stillness by clocks of their own. */
  readonly beat: number;
  readonly state: NodeState;
}

export type NewNode = Pick<ClusterNode, "id" | "store_id" | "labels" | "capacity" | "endpoint">;

export interface NodeFence {
  readonly node: string;
  readonly node_term: number;
}

export interface Placement {
  readonly worker: string;
  readonly spec_digest: string;
  /** `killed` is a tombstone, which wins over every claim. */
  readonly desired: "running" | "ended" | "killed";
  readonly on_partition: PartitionPolicy;
  /** Labels of the nodes that have what it needs, such as its files; null: it starts on no second node. */
  readonly needs: NodeLabels | null;
  /** Null until a node is found. `node_term` is the node's when the worker was placed there. */
  readonly node: string | null;
  readonly node_term: number | null;
  /** The fence of its records and processes. Each claim raises it. */
  readonly term: number;
  /** Starts under any term. A release that arrives after a further start is refused by it. */
  readonly starts: number;
}

export type NewPlacement = Pick<Placement, "worker" | "spec_digest" | "on_partition" | "needs">;

/** The one who ended a worker, and how, as for a kill on one machine. */
export interface Killer {
  readonly by: string;
  readonly reason: string;
  readonly grace_ms?: number | undefined;
  readonly signal?: string | undefined;
  /** Somebody killed it once more, which ends the grace. */
  readonly again?: boolean | undefined;
}

/** The right of a node to run a worker, and to write about it. */
export interface RunFence extends NodeFence {
  readonly worker: string;
  readonly term: number;
}

export type HeldRight = Pick<RunFence, "worker" | "node" | "term">;

export interface NodeInView extends ClusterNode {
  /** Workers that are placed there under its term, and shall run. 0 everywhere while no worker waits for a node: nobody asks then. */
  readonly load: number;
}

/** All that one node needs for its decisions, as of one moment. */
export interface ClusterView {
  readonly nodes: readonly NodeInView[];
  /** Those that shall run: the node's own, and those whose node does not hold them any more or never did. */
  readonly placements: readonly Placement[];
}

export interface NodeInOverview
  extends Pick<ClusterNode, "id" | "store_id" | "labels" | "capacity" | "endpoint" | "state"> {
  /** Since it renewed its lease, by the database's clock. */
  readonly beat_age_ms: number;
  readonly placed: number;
  /** The newest seq of its log in the copy; null before the first. */
  readonly copied_to: number | null;
}

/** A cluster as a person sees it. No decision reads it. */
export interface ClusterOverview {
  readonly nodes: readonly NodeInOverview[];
  /** Workers that shall run, and that no living node holds. */
  readonly unplaced: number;
  /** Days of the copy; 0 for all of them. */
  readonly keep_days: number;
}

export const isGone = ({ state }: ClusterNode): boolean => state === "dead" || state === "left";
