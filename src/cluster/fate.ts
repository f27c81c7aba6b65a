/** Whether a worker may be placed anew, and on which node it then runs. Pure. */
import { type ClusterNode, type ClusterView, isGone, type NodeLabels, type Placement } from "./rows.ts";

export type PlacementFate =
  /** It runs where it is, or shall not run at all. */
  | { readonly type: "stays" }
  | { readonly type: "goes"; readonly to: ClusterNode }
  /** Only a person can say how it goes on. */
  | { readonly type: "asks"; readonly why: QuestionAboutPlace };

/**
 * `continues`: its node is away and it may still run there. `pinned`: it names no needs, so nobody knows whether its files are
 * elsewhere. `nowhere`: no node has its labels. `full`: those that have them are full.
 */
export type QuestionAboutPlace = "continues" | "pinned" | "nowhere" | "full";

const STAYS: PlacementFate = { type: "stays" };

export const fateOf = (placement: Placement, view: ClusterView): PlacementFate => {
  if (placement.desired !== "running") return STAYS;
  const node = view.nodes.find(({ id }) => id === placement.node);
  if (placement.node === null || node === undefined) return chosen(placement, view);
  const isItsOwn = node.term === placement.node_term;
  if (isItsOwn && !isGone(node)) return STAYS;
  if (placement.on_partition === "continue" && !(isItsOwn && node.state === "left"))
    return isGone(node) ? { type: "asks", why: "continues" } : STAYS;
  if (placement.needs !== null) return chosen(placement, view);
  return takesMore(node, view) ? { type: "goes", to: node } : { type: "asks", why: "pinned" };
};

const chosen = ({ needs }: Placement, view: ClusterView): PlacementFate => {
  const able = view.nodes.filter((node) => has(node.labels, needs ?? {}) && node.state === "active");
  if (able.length === 0) return { type: "asks", why: "nowhere" };
  const [to] = able
    .filter((node) => takesMore(node, view))
    .map((node) => ({ node, share: loadOf(node, view) / node.capacity }))
    .sort((a, b) => a.share - b.share || (a.node.id < b.node.id ? -1 : 1));
  return to === undefined ? { type: "asks", why: "full" } : { type: "goes", to: to.node };
};

const has = (labels: NodeLabels, needs: NodeLabels): boolean =>
  Object.entries(needs).every(([label, value]) => labels[label] === value);

const takesMore = (node: ClusterNode, view: ClusterView): boolean =>
  node.state === "active" && loadOf(node, view) < node.capacity;

const loadOf = ({ id, term }: ClusterNode, { placements }: ClusterView): number =>
  placements.filter(
    ({ node, node_term, desired }) => node === id && node_term === term && desired === "running",
  ).length;
