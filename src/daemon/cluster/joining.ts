/** The name of a node that joins. */
import { setTimeout as sleep } from "node:timers/promises";
import { CLUSTER_LEASE_MS } from "../../base/limits.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import { isGone, type NewNode } from "../../cluster/rows.ts";

/**
 * The term of the node. A row of the name whose beat stands still for a whole lease is that of a node that is gone, so it is buried, as
 * any node would do. Undefined: a node of the name lives.
 */
export const termOf = async (
  store: PostgresStore,
  node: NewNode,
  session: string,
): Promise<number | undefined> => {
  const term = await store.join(node, session);
  if (term !== undefined) return term;
  const beatOf = async () => (await store.nodes()).find(({ id }) => id === node.id);
  const before = await beatOf();
  await sleep(CLUSTER_LEASE_MS);
  const after = await beatOf();
  if (before === undefined || after === undefined || isGone(after)) return store.join(node, session);
  if (before.term !== after.term || before.beat !== after.beat) return undefined;
  await store.bury(node.id, after.term, after.beat);
  return store.join(node, session);
};
