/** One fault at a time: how long it takes until a worker runs elsewhere, and who is left alone. */
import { describe, expect, it } from "vitest";
import { CLUSTER_LEASE_MS } from "../../src/base/limits.ts";
import { ModelCluster } from "./model/cluster.ts";
import type { ModelNode } from "./model/daemon.ts";

const ELSEWHERE_MAX_MS = 10_000;
const SEEDS = Array.from({ length: 20 }, (_, at) => at + 1);

const settled = (seed: number): { cluster: ModelCluster; stops: string[]; goesOn: string[] } => {
  const cluster = new ModelCluster({ seed, isCalm: true });
  const stops = Array.from({ length: 6 }, () => cluster.place("stop"));
  const goesOn = Array.from({ length: 3 }, () => cluster.place("continue"));
  cluster.clock.runUntil(10_000 + seed * 137);
  for (const worker of [...stops, ...goesOn]) expect(cluster.starts.get(worker), worker).toHaveLength(1);
  return { cluster, stops, goesOn };
};
const pass = (cluster: ModelCluster, ms: number): void => cluster.clock.runUntil(cluster.clock.now + ms);
const startsOf = (cluster: ModelCluster): number =>
  [...cluster.starts.values()].reduce((sum, { length }) => sum + length, 0);

describe("a worker that stops without a lease runs elsewhere within 10 s", () => {
  const faults: Readonly<Record<string, (cluster: ModelCluster, node: ModelNode) => void>> = {
    "its machine is lost": (cluster, node) => cluster.switchOff(node),
    "its daemon is killed": (cluster, node) => cluster.killDaemon(node),
    "its daemon stands still": (cluster, node) => cluster.daemonOf(node)?.freeze({ lasts_ms: 60_000 }),
    "its node is cut off": (_, node) => {
      node.isCut = true;
    },
  };
  it.each(Object.entries(faults))("%s", (_, strike) => {
    for (const seed of SEEDS) {
      const { cluster, stops } = settled(seed);
      const node = cluster.whereIs(stops[0] as string) as ModelNode;
      const moved = stops.filter((worker) => cluster.whereIs(worker) === node);
      strike(cluster, node);
      pass(cluster, ELSEWHERE_MAX_MS);
      expect(cluster.violations).toEqual([]);
      for (const worker of moved) {
        const starts = cluster.starts.get(worker) ?? [];
        expect(starts, `seed ${seed}, ${worker}`).toHaveLength(2);
        expect(starts[1]?.node).not.toBe(node.id);
      }
    }
  });
});

it("a worker that goes on without a lease is placed nowhere else before a person says that its machine is gone", () => {
  const { cluster, goesOn } = settled(1);
  const [worker] = goesOn as [string];
  const node = cluster.whereIs(worker) as ModelNode;
  cluster.switchOff(node);
  pass(cluster, 60_000);
  expect(cluster.starts.get(worker)).toHaveLength(1);
  expect(cluster.store.rows.declareGone(node.id)).toBe(true);
  pass(cluster, 2_000);
  expect(cluster.starts.get(worker)).toHaveLength(2);
  cluster.switchOn(node);
  pass(cluster, 20_000);
  cluster.lookAtPeace();
  expect(cluster.violations).toEqual([]);
});

it("a node that comes back keeps what went on there", () => {
  const { cluster, goesOn } = settled(2);
  const [worker] = goesOn as [string];
  const node = cluster.whereIs(worker) as ModelNode;
  node.isCut = true;
  pass(cluster, 30_000);
  node.isCut = false;
  pass(cluster, 20_000);
  expect(cluster.starts.get(worker)).toHaveLength(1);
  expect(cluster.whereIs(worker)).toBe(node);
  expect(cluster.store.rows.placements.get(worker)?.node_term).toBe(
    cluster.store.rows.nodes.get(node.id)?.term,
  );
});

it("the store is away for ten minutes: some stop within their lease, the others go on, and nobody is buried for it", () => {
  const { cluster, stops, goesOn } = settled(3);
  const terms = [...cluster.store.rows.nodes.values()].map(({ term }) => term);
  cluster.store.stop();
  pass(cluster, CLUSTER_LEASE_MS);
  expect(stops.filter((worker) => cluster.whereIs(worker) !== undefined)).toEqual([]);
  pass(cluster, 600_000);
  cluster.store.start();
  pass(cluster, 10_000);
  for (const worker of goesOn) expect(cluster.starts.get(worker)).toHaveLength(1);
  for (const worker of stops) expect(cluster.starts.get(worker)).toHaveLength(2);
  expect([...cluster.store.rows.nodes.values()].map(({ term }) => term)).toEqual(terms);
  expect(cluster.violations).toEqual([]);
});

it("a drain moves what can start elsewhere, and nothing else", () => {
  const { cluster, stops, goesOn } = settled(4);
  const node = cluster.whereIs(stops[0] as string) as ModelNode;
  const pinned = cluster.place("stop", null);
  pass(cluster, 2_000);
  const before = startsOf(cluster);
  const moving = [...stops, ...goesOn].filter((worker) => cluster.whereIs(worker) === node);
  const isPinnedHere = cluster.whereIs(pinned) === node;
  cluster.store.rows.drain(node.id, true);
  pass(cluster, 10_000);
  expect(startsOf(cluster) - before).toBe(moving.length);
  for (const worker of moving) expect(cluster.whereIs(worker)).not.toBe(node);
  expect(cluster.whereIs(pinned) === node).toBe(isPinnedHere);
  const late = [...cluster.store.copy.values()]
    .flatMap((rows) => [...rows.values()])
    .filter((row) => row.isLate);
  expect(late).toEqual([]);
});

it("a node that joins, or leaves with nothing on it, moves nobody", () => {
  const cluster = new ModelCluster({ seed: 5, isCalm: true });
  const [first, second] = cluster.nodes as [ModelNode, ModelNode, ModelNode];
  cluster.switchOff(first);
  pass(cluster, 20_000);
  const workers = Array.from({ length: 6 }, () => cluster.place("stop"));
  pass(cluster, 5_000);
  cluster.switchOn(first);
  pass(cluster, 20_000);
  expect(startsOf(cluster)).toBe(workers.length);
  const node_term = cluster.store.rows.nodes.get(second.id)?.term ?? 0;
  expect(cluster.store.rows.leave({ node: second.id, node_term })).toBe(false);
});
