/**
 * How a node finds that another one's lease is over: the other's beat stood still for a whole lease, by the clock of the one that
 * looks. No clock of another machine counts, not even that of the database. Pure.
 */
import { CLUSTER_LEASE_MS, CLUSTER_LOOK_GAP_MAX_MS } from "../base/limits.ts";
import { type ClusterNode, isGone } from "./rows.ts";

interface Sighting {
  readonly term: number;
  readonly beat: number;
  /** The first look that saw this beat, when it was answered. */
  readonly since_ms: number;
}

export interface Sightings {
  readonly looked_ms: number;
  readonly of: ReadonlyMap<string, Sighting>;
}

export const NO_SIGHTINGS: Sightings = { looked_ms: Number.NEGATIVE_INFINITY, of: new Map() };

/**
 * After a time without looks the count begins anew: the database may have been away for everybody, and a node that is well must be
 * able to renew first.
 */
export const sight = (
  before: Sightings,
  nodes: readonly ClusterNode[],
  times: { readonly asked_ms: number; readonly answered_ms: number },
): Sightings => {
  const isAnew = times.asked_ms - before.looked_ms > CLUSTER_LOOK_GAP_MAX_MS;
  const of = new Map(
    nodes.map(({ id, term, beat }): [string, Sighting] => {
      const known = isAnew ? undefined : before.of.get(id);
      const isStill = known !== undefined && known.term === term && known.beat === beat;
      return [id, isStill ? known : { term, beat, since_ms: times.answered_ms }];
    }),
  );
  return { looked_ms: times.answered_ms, of };
};

/** The nodes whose leases are over. `asked_ms`: the look is as old as that. */
export const overdue = (
  sightings: Sightings,
  nodes: readonly ClusterNode[],
  asked_ms: number,
): readonly ClusterNode[] =>
  nodes.filter((node) => {
    const since = sightings.of.get(node.id)?.since_ms;
    return !isGone(node) && since !== undefined && asked_ms - since >= CLUSTER_LEASE_MS;
  });
