/** Counts the workers that a stop has ended so far, for the sign of life of a stop that takes long. */
import type { Client } from "../../daemon/client.ts";
import type { TreeNode } from "../../protocol/replies/trees.ts";
import { isEnded } from "../../protocol/words.ts";
import type { Context } from "../context.ts";

/** The records that end a worker for good. */
const ENDS = ["worker_completed", "worker_failed", "worker_cancelled"];

/**
 * Ids of the living workers at or below the named nodes; of all if nothing is named. A path begins below the tree. Pure.
 */
export const livingBelow = (root: TreeNode, refs: readonly string[] | undefined): readonly string[] => {
  const found = new Set<string>();
  const look = (node: TreeNode, prefix: string, isChosen: boolean): void => {
    const path = prefix + (node.name ?? node.id);
    const isOne = isChosen || refs?.includes(node.id) === true || refs?.includes(path) === true;
    if (isOne && node.type === "worker" && node.state !== undefined && !isEnded(node.state))
      found.add(node.id);
    for (const child of node.children) look(child, `${path}/`, isOne);
  };
  for (const top of root.children) {
    const isChosen = refs === undefined || refs.includes(top.name ?? top.id);
    if (top.type === "worker") look(top, "", isChosen);
    else for (const child of top.children) look(child, "", isChosen);
  }
  return [...found];
};

const NOTHING = (): string => "";

/**
 * The work of a stop of `refs`, or of all without them, so far: ` (340 of 1000)`, or nothing for a single worker. A script that
 * stops a single one pays no request for it.
 */
export const countEnds = async (
  { isStderrTerminal }: Pick<Context, "isStderrTerminal">,
  client: Client,
  refs?: readonly string[],
): Promise<() => string> => {
  if (refs?.length === 1 && !isStderrTerminal) return NOTHING;
  const asked = [client.ask("daemon/status", {}), client.ask("agent/tree", {})] as const;
  const [status, tree] = await Promise.all(asked);
  // The count is not worth a failure of the stop.
  if (!status.ok || !tree.ok) return NOTHING;
  const left = new Set(livingBelow(tree.value, refs));
  const all = left.size;
  if (all < 2) return NOTHING;
  // It ends with the connection. The stop itself tells what went wrong.
  void client
    .watch(
      { all: true, types: ENDS, from: status.value.head },
      ({ worker_id }) => void left.delete(worker_id ?? ""),
    )
    .catch(NOTHING);
  return () => ` (${all - left.size} of ${all})`;
};
