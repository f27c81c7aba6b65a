/** The workers of a node that is to be drained: where each goes, as of one moment. Pure. */
import { fateOf } from "./fate.ts";
import type { NodeInView, NodeLabels } from "./rows.ts";

/** A worker that runs on the node. */
export interface DrainedWorker {
  readonly worker: string;
  readonly needs: NodeLabels | null;
  /** Its policy starts it only once, and it has begun. */
  readonly is_once: boolean;
}

/**
 * `nowhere`: no other node has its labels. `full`: those that have them are full. `once`: it ends, and is not started again.
 * `pinned`: it names no needs, so it stays.
 */
export type StrandedWhy = "nowhere" | "full" | "once" | "pinned";

export interface DrainPlan {
  /** Workers that other nodes take. */
  readonly moves: number;
  readonly stranded: readonly { readonly name: string; readonly why: StrandedWhy }[];
}

/** Each that moves takes room from those behind it. */
export const planDrain = (
  node: string,
  workers: readonly DrainedWorker[],
  nodes: readonly NodeInView[],
): DrainPlan => {
  let left = nodes.map((each) => (each.id === node ? { ...each, state: "draining" as const } : each));
  const stranded: { readonly name: string; readonly why: StrandedWhy }[] = [];
  for (const { worker, needs, is_once } of workers) {
    const fate = fateOf({ ...UNPLACED, worker, needs }, left);
    if (needs === null || is_once) stranded.push({ name: worker, why: needs === null ? "pinned" : "once" });
    else if (fate.type === "goes")
      left = left.map((each) => (each.id === fate.to.id ? { ...each, load: each.load + 1 } : each));
    else
      stranded.push({ name: worker, why: fate.type === "asks" && fate.why === "full" ? "full" : "nowhere" });
  }
  return { moves: workers.length - stranded.length, stranded };
};

/** A running worker that has no node. */
export const UNPLACED = {
  worker: "",
  spec_digest: "",
  desired: "running",
  on_partition: "stop",
  node: null,
  node_term: null,
  term: 0,
  starts: 0,
} as const;
