/** Rows of a cluster for tests of decisions: a node with room, and a worker that runs on the node `me`. */
import type { NodeInView, Placement } from "../../../src/cluster/rows.ts";

export const nodeInView = (id: string, more: Partial<NodeInView> = {}): NodeInView => ({
  id,
  store_id: id,
  labels: {},
  capacity: 4,
  endpoint: "",
  term: 1,
  beat: 0,
  load: 0,
  state: "active",
  ...more,
});

export const placement = (more: Partial<Placement> = {}): Placement => ({
  worker: "w",
  spec_digest: "",
  desired: "running",
  on_partition: "stop",
  needs: {},
  node: "me",
  node_term: 1,
  term: 3,
  starts: 0,
  ...more,
});
