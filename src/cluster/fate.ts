/** Whether a worker may be placed anew, and on which node it then runs. Pure. */
import { isGone, type NodeInView, type NodeLabels, type Placement } from "./rows.ts";

export type PlacementFate =
  /** It runs where it is, or shall not run at all. */
  | { readonly type: "stays" }
  | { readonly type: "goes"; readonly to: NodeInView }
  /** Only a person can say how it goes on. */
  | { readonly type: "asks"; readonly why: QuestionAboutPlace };

/**
 * `continues`: its node is away and it may still run there. `pinned`: it names no needs, so nobody knows whether its files are
 * elsewhere. `nowhere`: no node has its labels. `full`: those that have them are full.
 */
export type QuestionAboutPlace = "continues" | "pinned" | "nowhere" | "full";

const NAME_LABEL = "node";

const STAYS: PlacementFate = { type: "stays" };

export const fateOf = (placement: Placement, nodes: readonly NodeInView[]): PlacementFate => {
  if (placement.desired !== "running") return STAYS;
  const node = nodes.find(({ id }) => id === placement.node);
  if (placement.node === null || node === undefined) return chosen(placement, nodes);
  const isItsOwn = node.term === placement.node_term;
  if (isItsOwn && !isGone(node)) return STAYS;
  if (placement.on_partition === "continue" && !(isItsOwn && node.state === "left"))
    return isGone(node) ? { type: "asks", why: "continues" } : STAYS;
  if (placement.needs !== null) return chosen(placement, nodes);
  return takesMore(node) ? { type: "goes", to: node } : { type: "asks", why: "pinned" };
};

/** The one with the smallest share of its capacity in use. */
const chosen = ({ needs }: Placement, nodes: readonly NodeInView[]): PlacementFate => {
  const able = nodes.filter((node) => has(node, needs ?? {}) && node.state === "active");
  if (able.length === 0) return { type: "asks", why: "nowhere" };
  const share = ({ load, capacity }: NodeInView): number => load / capacity;
  const [to] = able.filter(takesMore).sort((a, b) => share(a) - share(b) || (a.id < b.id ? -1 : 1));
  return to === undefined ? { type: "asks", why: "full" } : { type: "goes", to };
};

/** Each node has a label that it cannot be given: its name. */
const has = ({ id, labels }: NodeInView, needs: NodeLabels): boolean =>
  Object.entries(needs).every(([label, value]) => (label === NAME_LABEL ? id : labels[label]) === value);

const takesMore = ({ state, load, capacity }: NodeInView): boolean => state === "active" && load < capacity;
