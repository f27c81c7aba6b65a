/** How a node leaves its cluster, whatever of it is still under way. */
import type { KeptMembership } from "../../cluster/node/machine.ts";
import { type ClusterView, isGone, type NewNode } from "../../cluster/rows.ts";
import type { ClusterStore } from "../../cluster/store.ts";

type LeftStore = Pick<ClusterStore, "leave" | "view" | "join">;

/** Running workers that are placed under its name; 0 where the name is another daemon's by now, and so is all that is placed under it. */
export const placedOn = async (store: Pick<ClusterStore, "view">, node: NewNode): Promise<number> =>
  placedIn(await store.view(node.id), node);

const placedIn = ({ nodes, placements }: ClusterView, { id, store_id }: NewNode): number => {
  const row = nodes.find((each) => each.id === id);
  return row !== undefined && row.store_id !== store_id
    ? 0
    : placements.filter((each) => each.node === id).length;
};

/**
 * The workers that are placed here, so that it does not leave; 0 once it has left. A join may have come whose answer nobody took, or may
 * come later. So the node joins in the same session once more, which is answered alike, and leaves: that session joins no more.
 */
export const leaveCluster = async (
  store: LeftStore,
  node: NewNode,
  { term, session }: Pick<KeptMembership, "term" | "session">,
): Promise<number> => {
  const leaves = (node_term: number): Promise<boolean> => store.leave({ node: node.id, node_term });
  if (await leaves(term)) return 0;
  const view = await store.view(node.id);
  const row = view.nodes.find(({ id }) => id === node.id);
  if (row !== undefined && row.store_id !== node.store_id) return 0;
  const placed = placedIn(view, node);
  if (placed > 0) return placed;
  // They have ended since.
  if (row !== undefined && !isGone(row) && row.term === term) return (await leaves(term)) ? 0 : 1;
  const joined = await store.join(node, session);
  return joined === undefined || (await leaves(joined)) ? 0 : 1;
};
