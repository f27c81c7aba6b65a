/** A node that leaves at the store's port, while a join or a renewal of it is under way. */
import { expect, it } from "vitest";
import type { NewNode } from "../../../src/cluster/rows.ts";
import { leaveCluster } from "../../../src/daemon/cluster/leaving.ts";
import { MemoryStore } from "../../cluster/support/memory-store.ts";

const nodeOf = (store_id: string): NewNode => ({
  id: "a",
  store_id,
  labels: {},
  capacity: 4,
  endpoint: "",
});
const A = nodeOf("s");
const stateIn = async (store: MemoryStore) => (await store.view("a")).nodes[0]?.state;
const place = async (store: MemoryStore, worker: string, node_term: number): Promise<void> => {
  await store.place({ worker, spec_digest: "", on_partition: "stop", needs: {} });
  expect(await store.claim(worker, 0, { node: "a", node_term })).toBe(true);
};

it("leaves by its term", async () => {
  const store = new MemoryStore();
  await store.join(A, "s1");
  expect(await leaveCluster(store, A, { term: 1, session: "s2" })).toBe(0);
  expect(await stateIn(store)).toBe("left");
});

it("leaves by a join that came, and whose answer nobody took", async () => {
  const store = new MemoryStore();
  await store.join(A, "s1");
  expect(await leaveCluster(store, A, { term: 0, session: "s1" })).toBe(0);
  expect(await stateIn(store)).toBe("left");
});

it.each([
  ["there was no row", async () => {}],
  [
    "its lease was over",
    async (store: MemoryStore) => {
      await store.join(A, "s0");
      await store.bury("a", 1, 0);
    },
  ],
  [
    "it had left before",
    async (store: MemoryStore) => {
      await store.join(A, "s0");
      await store.leave({ node: "a", node_term: 1 });
    },
  ],
])("a join that comes after the leave brings nobody back: %s", async (_, prepare) => {
  const store = new MemoryStore();
  await prepare(store);
  expect(await leaveCluster(store, A, { term: 0, session: "s1" })).toBe(0);
  expect(await store.join(A, "s1")).toBeUndefined();
  expect(await stateIn(store)).toBe("left");
});

it("leaves nothing of another daemon that has its name now, with workers or without", async () => {
  const store = new MemoryStore();
  await store.join(nodeOf("t"), "t1");
  await place(store, "w", 1);
  expect(await leaveCluster(store, A, { term: 0, session: "s1" })).toBe(0);
  expect(await stateIn(store)).toBe("active");
});

it("does not leave while workers are placed here", async () => {
  const store = new MemoryStore();
  await store.join(A, "s1");
  await place(store, "w", 1);
  expect(await leaveCluster(store, A, { term: 1, session: "s2" })).toBe(1);
  expect(await stateIn(store)).toBe("active");
});
