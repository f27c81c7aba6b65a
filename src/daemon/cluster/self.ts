/** A node as its own `agent cluster status` and `agent cluster join` tell it. */
import type { ClusterChange, ClusterStatus } from "../../protocol/replies/cluster.ts";
import { holdsLease, type KeptNode } from "./kept.ts";
import type { Trouble } from "./trouble.ts";

interface ToldNode {
  readonly kept: KeptNode;
  readonly copied_to: number | null;
  readonly lease: Pick<Trouble, "failing">;
  readonly copy: Pick<Trouble, "failing">;
  readonly drop: Pick<Trouble, "failing">;
}

export const selfOf = (
  { kept, lease, copy, drop, copied_to }: ToldNode,
  head: number,
): NonNullable<ClusterStatus["self"]> => ({
  name: kept.name,
  holds_lease: holdsLease(kept),
  failing: lease.failing,
  copy: {
    copied_to,
    head,
    behind: copied_to === null ? null : Math.max(0, head - copied_to),
    failing: copy.failing,
    drop_failing: drop.failing,
  },
});

export const changeOf = (
  { name, labels, capacity }: KeptNode,
  effect: ClusterChange["effect"],
): ClusterChange => ({
  name,
  labels,
  capacity,
  effect,
});
