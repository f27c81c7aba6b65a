/** A node whose daemon has stopped, at the store's port: others take what it gives back, and nothing else. */
import { expect, it } from "vitest";
import type { NewNode } from "../../../src/cluster/rows.ts";
import { giveBack, type StoppedNode } from "../../../src/daemon/cluster/stopping.ts";
import { MemoryStore } from "../../cluster/support/memory-store.ts";

const nodeOf = (id: string): NewNode => ({ id, store_id: id, labels: {}, capacity: 9, endpoint: "" });

const stoppedNode = async (goesOn: readonly string[], isDrained = false) => {
  const store = new MemoryStore();
  for (const id of ["a", "b"]) await store.join(nodeOf(id), id);
  const placed = [
    ["ended", "stop"],
    ["stops", "stop"],
    ["goes-on", "continue"],
  ] as const;
  for (const [worker, on_partition] of placed) {
    await store.place({ worker, spec_digest: "", on_partition, needs: {} });
    await store.claim(worker, 0, { node: "a", node_term: 1 });
  }
  await store.drain("a", isDrained);
  const told: string[] = [];
  const stopped: StoppedNode = {
    node: "a",
    node_term: 1,
    goesOn: new Set(goesOn),
    isOver: async ({ worker }) => worker === "ended",
    forgetLease: () => void told.push("no lease"),
  };
  await giveBack(store, stopped);
  const { nodes, placements } = await store.view("b");
  const claims = (worker: string) => store.claim(worker, 1, { node: "b", node_term: 1 });
  return { told, claims, state: nodes.find(({ id }) => id === "a")?.state, placements };
};

it("its workers run elsewhere at once, but those that are over, and its lease has ended", async () => {
  const { told, claims, state, placements } = await stoppedNode([]);
  expect([state, told]).toEqual(["dead", ["no lease"]]);
  expect(placements.map(({ worker, node }) => [worker, node])).toEqual([
    ["stops", null],
    ["goes-on", null],
  ]);
  expect(await claims("stops")).toBe(true);
  expect(await claims("ended")).toBe(false);
});

it("a worker that goes on keeps the lease, and stays", async () => {
  const { told, claims, state } = await stoppedNode(["stops"]);
  expect([state, told]).toEqual(["active", []]);
  expect(await claims("stops")).toBe(false);
  expect(await claims("goes-on")).toBe(true);
});

it("a node that a person drained gives its workers back, and stays drained", async () => {
  const { told, claims, state } = await stoppedNode([], true);
  expect([state, told]).toEqual(["draining", []]);
  expect(await claims("stops")).toBe(true);
});

it("a drain that comes while it gives back is not lost: its next daemon takes no worker", async () => {
  const store = new MemoryStore();
  await store.join(nodeOf("a"), "before");
  await store.place({ worker: "w", spec_digest: "", on_partition: "stop", needs: {} });
  await store.claim("w", 0, { node: "a", node_term: 1 });
  const isOver = async (): Promise<boolean> => !(await store.drain("a", true));
  await giveBack(store, { node: "a", node_term: 1, goesOn: new Set(), isOver, forgetLease: () => undefined });
  expect((await store.view("a")).nodes[0]?.state).toBe("dead");
  await store.join(nodeOf("a"), "after");
  expect((await store.view("a")).nodes[0]?.state).toBe("draining");
});
