/** How long another node's beat has stood still, by the clock of the one that looks. */
import { describe, expect, it } from "vitest";
import { CLUSTER_LEASE_MS, CLUSTER_LOOK_GAP_MAX_MS } from "../../src/base/limits.ts";
import type { ClusterNode } from "../../src/cluster/rows.ts";
import { NO_SIGHTINGS, overdue, type Sightings, sight } from "../../src/cluster/sightings.ts";

const node = (beat: number, more: Partial<ClusterNode> = {}): ClusterNode => ({
  id: "a",
  store_id: "a",
  labels: {},
  capacity: 1,
  endpoint: "",
  term: 1,
  beat,
  state: "active",
  ...more,
});
/** Looks once a second, each of which takes no time. */
const watched = (nodes: readonly ClusterNode[], from: Sightings = NO_SIGHTINGS, start = 0): Sightings =>
  nodes.reduce(
    (sightings, each, at) =>
      sight(sightings, [each], { asked_ms: start + at * 1_000, answered_ms: start + at * 1_000 }),
    from,
  );
const still = (beat: number, looks: number): readonly ClusterNode[] =>
  Array.from({ length: looks }, () => node(beat));
const LOOKS = CLUSTER_LEASE_MS / 1_000 + 1;

describe("a node is overdue", () => {
  it("once its beat stood still for a whole lease, and not before", () => {
    const sightings = watched(still(5, LOOKS));
    expect(overdue(sightings, [node(5)], CLUSTER_LEASE_MS)).toHaveLength(1);
    expect(overdue(sightings, [node(5)], CLUSTER_LEASE_MS - 1)).toEqual([]);
  });

  it("counted anew from each beat and each term", () => {
    const beats = watched([...still(5, 4), ...still(6, LOOKS - 4)]);
    expect(overdue(beats, [node(6)], CLUSTER_LEASE_MS)).toEqual([]);
    const terms = watched([...still(5, 4), ...still(5, LOOKS - 4).map((each) => ({ ...each, term: 2 }))]);
    expect(overdue(terms, [node(5, { term: 2 })], CLUSTER_LEASE_MS)).toEqual([]);
  });

  it("counted anew after a time without looks, because the store may have been away for it too", () => {
    const before = watched(still(5, 4));
    const again = 3_000 + CLUSTER_LOOK_GAP_MAX_MS + 1;
    const after = watched(still(5, 2), before, again);
    expect(overdue(after, [node(5)], again + CLUSTER_LEASE_MS - 1)).toEqual([]);
  });

  it("never when it is gone already", () => {
    expect(overdue(watched(still(5, LOOKS)), [node(5, { state: "dead" })], CLUSTER_LEASE_MS)).toEqual([]);
  });
});
