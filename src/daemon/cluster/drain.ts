/** A drain as a person asks for it: it says which workers of the node no other node takes, and what becomes of them. */
import { CLUSTER_STRANDED_SHOWN_MAX } from "../../base/limits.ts";
import { planDrain } from "../../cluster/drain.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { NodeDrained } from "../../protocol/replies/cluster.ts";
import type { RequestData } from "../../protocol/requests.ts";
import { noSuchNode } from "./refusals.ts";

export const drainNode = async (
  store: Pick<PostgresStore, "overview" | "workersAt" | "drain">,
  { node, undo, dry_run }: RequestData<"cluster/drain">,
): Promise<NodeDrained> => {
  const { nodes } = await store.overview();
  const before = nodes.find(({ id }) => id === node);
  if (before === undefined) throw noSuchNode(node);
  const seen = nodes.map((each) => ({ ...each, term: 0, beat: 0, load: each.placed }));
  // Once it drains they are on their way.
  const workers = undo ? [] : await store.workersAt(node);
  const { moves, stranded } = planDrain(node, workers, seen);
  const isGone = before.state === "dead" || before.state === "left";
  if (isGone || !(dry_run || (await store.drain(node, !undo))))
    throw new HoldfastError("INVALID_STATE", `The node ${node} is ${before.state}.`);
  const isDone = (before.state === "draining") === !undo;
  return {
    name: node,
    moves,
    stranded: stranded.length,
    workers: stranded.slice(0, CLUSTER_STRANDED_SHOWN_MAX),
    effect: isDone ? "noop" : dry_run ? "would_update" : "updated",
  };
};
