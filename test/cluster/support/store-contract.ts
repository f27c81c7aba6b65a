/** The contract of every store of a cluster, whatever it is made of: its fences one by one. */
import { expect, it } from "vitest";
import { CLUSTER_STREAM_PAGE_RECORDS } from "../../../src/base/limits.ts";
import { grant, leftOf } from "../../../src/cluster/budgets.ts";
import { RightOverError } from "../../../src/cluster/errors.ts";
import type { NewNode, NewPlacement, NodeFence, Placement, RunFence } from "../../../src/cluster/rows.ts";
import type { ClusterStore, CopiedRecord } from "../../../src/cluster/store.ts";

const nodeOf = (id: string): NewNode => ({
  id,
  store_id: `store-${id}`,
  labels: { zone: "north" },
  capacity: 3,
  endpoint: `ssh://${id}`,
});
const workerOf = (worker: string, more: Partial<NewPlacement> = {}): NewPlacement => ({
  worker,
  spec_digest: "d",
  on_partition: "stop",
  needs: { zone: "north" },
  ...more,
});
export const joined = async (store: ClusterStore, id: string): Promise<NodeFence> => ({
  node: id,
  node_term: (await store.join(nodeOf(id), `${id}-1`)) as number,
});
/** On a node, under term 1. */
export const running = async (
  store: ClusterStore,
  worker: string,
  fence: NodeFence,
  more: Partial<NewPlacement> = {},
): Promise<RunFence> => {
  expect(await store.place(workerOf(worker, more))).toBe(true);
  expect(await store.claim(worker, 0, fence)).toBe(true);
  return { ...fence, worker, term: 1 };
};
export const recordOf = (seq: number, run: CopiedRecord["run"], text = `r${seq}`): CopiedRecord => ({
  seq,
  run,
  text,
});
const seen = async (store: ClusterStore, worker: string, node: string): Promise<Placement | undefined> =>
  (await store.view(node)).placements.find((placement) => placement.worker === worker);

/** `open` gives a store without rows. */
export const holdsContract = (open: () => Promise<ClusterStore>): void => {
  it("a node joins once, and its session is answered alike again", async () => {
    const store = await open();
    expect(await store.join(nodeOf("a"), "s1")).toBe(1);
    expect(await store.join(nodeOf("a"), "s1")).toBe(1);
    expect(await store.join(nodeOf("a"), "s2")).toBeUndefined();
    expect((await store.view("a")).nodes).toEqual([
      { ...nodeOf("a"), term: 1, beat: 0, state: "active", load: 0 },
    ]);
  });

  it("a renewal raises the beat, and only of the living term", async () => {
    const store = await open();
    const a = await joined(store, "a");
    expect(await store.renew(a)).toBe(true);
    expect((await store.view("a")).nodes[0]?.beat).toBe(1);
    expect(await store.renew({ ...a, node_term: 2 })).toBe(false);
    expect(await store.renew({ node: "b", node_term: 1 })).toBe(false);
  });

  it("a burial needs the beat that was seen, and ends the term", async () => {
    const store = await open();
    const a = await joined(store, "a");
    await store.renew(a);
    expect(await store.bury("a", 1, 0)).toBe(false);
    expect(await store.bury("a", 2, 1)).toBe(false);
    expect(await store.bury("a", 1, 1)).toBe(true);
    expect(await store.bury("a", 1, 1)).toBe(false);
    expect(await store.renew(a)).toBe(false);
    expect(await store.join(nodeOf("a"), "s2")).toBe(2);
  });

  it("a drain is taken back, and takes no claim meanwhile", async () => {
    const store = await open();
    const a = await joined(store, "a");
    await store.place(workerOf("w"));
    expect(await store.drain("a", true)).toBe(true);
    expect(await store.claim("w", 0, a)).toBe(false);
    expect(await store.renew(a)).toBe(true);
    expect(await store.drain("a", false)).toBe(true);
    expect(await store.claim("w", 0, a)).toBe(true);
    expect(await store.drain("b", true)).toBe(false);
  });

  it("a drain outlasts a burial, and is over for a node that left or has another log", async () => {
    const store = await open();
    const a = await joined(store, "a");
    const stateOfA = async () => (await store.view("a")).nodes[0]?.state;
    await store.drain("a", true);
    expect(await store.bury("a", a.node_term, 0)).toBe(true);
    const again = { node: "a", node_term: (await store.join(nodeOf("a"), "a-2")) as number };
    expect(await stateOfA()).toBe("draining");
    expect(await store.leave(again)).toBe(true);
    const back = (await store.join(nodeOf("a"), "a-3")) as number;
    expect(await stateOfA()).toBe("active");
    await store.drain("a", true);
    await store.bury("a", back, 0);
    await store.join({ ...nodeOf("a"), store_id: "another" }, "a-4");
    expect(await stateOfA()).toBe("active");
  });

  it("a node leaves only without workers", async () => {
    const store = await open();
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    expect(await store.leave(a)).toBe(false);
    expect(await store.end(run)).toBe(true);
    expect(await store.leave(a)).toBe(true);
    expect(await store.renew(a)).toBe(false);
  });

  it("a session that has left joins no more, and another one does", async () => {
    const store = await open();
    const a = await joined(store, "a");
    expect(await store.leave(a)).toBe(true);
    expect(await store.join(nodeOf("a"), "a-1")).toBeUndefined();
    expect((await store.view("a")).nodes[0]?.state).toBe("left");
    expect(await store.join(nodeOf("a"), "a-2")).toBe(2);
  });

  it("a node that a person took for gone comes back, whatever its session is", async () => {
    const store = await open();
    await joined(store, "a");
    await store.bury("a", 1, 0);
    expect(await store.declareGone("a")).toBe(true);
    expect(await store.join(nodeOf("a"), "a-1")).toBe(2);
  });

  it("a claim needs the term that was seen, and raises it", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    await running(store, "w", a);
    expect(await store.claim("w", 0, b)).toBe(false);
    expect(await store.claim("w", 1, b)).toBe(false);
    await store.bury("a", 1, 0);
    expect(await store.claim("w", 1, { ...b, node_term: 2 })).toBe(false);
    expect(await store.claim("w", 1, b)).toBe(true);
    expect(await seen(store, "w", "b")).toMatchObject({ node: "b", node_term: 1, term: 2 });
  });

  it("two nodes that claim at once: one has it", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    for (let at = 0; at < 20; at++) {
      const worker = `w${at}`;
      await store.place(workerOf(worker));
      const won = await Promise.all([store.claim(worker, 0, a), store.claim(worker, 0, b)]);
      expect(won.filter(Boolean)).toHaveLength(1);
    }
  });

  it("a worker that goes on without a lease is claimed only from a machine that is gone", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    await running(store, "w", a, { on_partition: "continue" });
    expect(await store.declareGone("a")).toBe(false);
    await store.bury("a", 1, 0);
    expect(await store.claim("w", 1, b)).toBe(false);
    expect(await store.declareGone("a")).toBe(true);
    expect(await store.claim("w", 1, b)).toBe(true);
  });

  it("its node adopts it in a new term, and nobody else's worker", async () => {
    const store = await open();
    const a = await joined(store, "a");
    const run = await running(store, "w", a, { on_partition: "continue" });
    const stops = await running(store, "v", a);
    await store.bury("a", 1, 0);
    const node_term = (await store.join(nodeOf("a"), "s2")) as number;
    expect(await store.adopt(run)).toBe(false);
    expect(await store.adopt({ ...run, node_term })).toBe(true);
    expect(await store.adopt({ ...stops, node_term })).toBe(false);
    expect(await seen(store, "w", "a")).toMatchObject({ node_term, term: 1 });
  });

  it("a worker without needs is claimed only by its own node", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    await running(store, "w", a, { needs: null });
    await store.bury("a", 1, 0);
    expect(await store.claim("w", 1, b)).toBe(false);
    const node_term = (await store.join(nodeOf("a"), "s2")) as number;
    expect(await store.claim("w", 1, { node: "a", node_term })).toBe(true);
  });

  it("a start needs the term, a living node, and no tombstone", async () => {
    const store = await open();
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    expect(await store.begin({ ...run, term: 2 })).toBe(false);
    expect(await store.begin(run)).toBe(true);
    expect(await seen(store, "w", "a")).toMatchObject({ starts: 1 });
    await store.drain("a", true);
    expect(await store.begin(run)).toBe(true);
    await store.kill("w");
    expect(await store.begin(run)).toBe(false);
    const other = await running(store, "v", await joined(store, "b"));
    await store.bury("b", 1, 0);
    expect(await store.begin(other)).toBe(false);
  });

  it("a release is refused after a further start", async () => {
    const store = await open();
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    await store.begin(run);
    expect(await store.release(run, 0)).toBe(false);
    expect(await store.release(run, 1)).toBe(true);
    expect(await seen(store, "w", "a")).toMatchObject({ node: null, node_term: null, term: 1 });
    expect(await store.claim("w", 1, await joined(store, "b"))).toBe(true);
  });

  it("a tombstone wins over every claim, also one of a worker that nobody has placed", async () => {
    const store = await open();
    const a = await joined(store, "a");
    await store.place(workerOf("w"));
    await store.kill("w");
    expect(await store.claim("w", 0, a)).toBe(false);
    await store.kill("early");
    expect(await store.place(workerOf("early"))).toBe(false);
    expect((await store.view("a")).placements).toEqual([]);
  });

  it("a view has the workers of a node and those that nobody holds, and the load of all", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    await running(store, "mine", a);
    await running(store, "theirs", b);
    await store.place(workerOf("free"));
    const view = await store.view("a");
    expect(view.placements.map(({ worker }) => worker).sort()).toEqual(["free", "mine"]);
    expect(view.nodes.map(({ id, load }) => [id, load]).sort()).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    await store.bury("b", 1, 0);
    const later = await store.view("a");
    expect(later.placements.map(({ worker }) => worker).sort()).toEqual(["free", "mine", "theirs"]);
  });

  it("a view knows each term that a node has had, and counts no load while nobody waits", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    for (const worker of ["w1", "w2"]) await running(store, worker, a);
    await running(store, "w3", b);
    expect((await store.view("b")).nodes.map(({ load }) => load)).toEqual([0, 0]);
    await store.bury("a", 1, 0);
    const again = { node: "a", node_term: (await store.join(nodeOf("a"), "a-2")) as number };
    await running(store, "w4", again);
    const seenBy = async (node: string) => {
      const { nodes, placements } = await store.view(node);
      const loads = nodes.map(({ id, load }) => `${id} ${load}`).sort();
      return [placements.map(({ worker }) => worker).sort(), loads];
    };
    expect(await seenBy("a")).toEqual([
      ["w1", "w2", "w4"],
      ["a 1", "b 1"],
    ]);
    expect(await seenBy("b")).toEqual([
      ["w1", "w2", "w3"],
      ["a 1", "b 1"],
    ]);
    for (const worker of ["w1", "w2"]) await store.claim(worker, 1, b);
    expect(await seenBy("b")).toEqual([
      ["w1", "w2", "w3"],
      ["a 0", "b 0"],
    ]);
  });

  it("records are copied once, without gaps", async () => {
    const store = await open();
    const a = await joined(store, "a");
    const run = await running(store, "w", a);
    const log = { store_id: "s", epoch: "e" };
    const records = [1, 2, 3].map((seq) => recordOf(seq, run));
    expect(await store.append("a", log, records)).toBe(3);
    expect(await store.append("a", log, records.slice(1))).toBe(3);
    expect(await store.append("a", log, [recordOf(5, run)])).toBe(3);
    expect(await store.append("a", log, [recordOf(4, null), recordOf(5, run)])).toBe(5);
    expect(await store.append("a", log, [])).toBe(5);
    expect(await store.append("a", { store_id: "s", epoch: "f" }, [recordOf(2, run)])).toBe(0);
    const { records: copied, next } = await store.stream("w", 0);
    expect(copied.map(({ seq }) => seq)).toEqual([1, 2, 3, 5]);
    expect(next).toBeNull();
  });

  it("a record of a term that was claimed away is copied, and is in no stream", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    const old = await running(store, "w", a);
    const log = { store_id: "s", epoch: "e" };
    await store.append("a", log, [recordOf(1, old)]);
    await store.bury("a", 1, 0);
    await store.claim("w", 1, b);
    expect(await store.append("a", log, [recordOf(2, old), recordOf(3, null)])).toBe(3);
    await store.append("b", { store_id: "t", epoch: "e" }, [recordOf(1, { worker: "w", term: 2 }, "new")]);
    const { records } = await store.stream("w", 0);
    expect(records.map(({ text }) => text)).toEqual(["r1", "new"]);
  });

  it("a record of a worker that was killed is in its stream: how it ended is part of it", async () => {
    const store = await open();
    const run = await running(store, "w", await joined(store, "a"));
    await store.kill("w");
    await store.append("a", { store_id: "s", epoch: "e" }, [recordOf(1, run)]);
    expect((await store.stream("w", 0)).records).toHaveLength(1);
  });

  it("a long stream is told in pages", async () => {
    const store = await open();
    const run = await running(store, "w", await joined(store, "a"));
    const all = Array.from({ length: CLUSTER_STREAM_PAGE_RECORDS + 1 }, (_, at) => recordOf(at + 1, run));
    await store.append("a", { store_id: "s", epoch: "e" }, all);
    const first = await store.stream("w", 0);
    expect(first.records).toHaveLength(CLUSTER_STREAM_PAGE_RECORDS);
    const second = await store.stream("w", first.next as number);
    expect([second.records.map(({ seq }) => seq), second.next]).toEqual([
      [CLUSTER_STREAM_PAGE_RECORDS + 1],
      null,
    ]);
  });

  it("nodes that take portions of a budget at once get no more than its limit", async () => {
    const store = await open();
    const take = (node: string): Promise<number> =>
      store.withBudget("b", (before = { limit: 50, portions: new Map(), spent: 0 }) => {
        const { budget, granted } = grant(before, node, 4);
        return { after: budget, result: granted };
      });
    const granted = await Promise.all(Array.from({ length: 20 }, (_, at) => take(`n${at % 3}`)));
    expect(granted.reduce((sum, each) => sum + each, 0)).toBe(50);
    const left = await store.withBudget("b", (before) => ({ after: before!, result: leftOf(before!) }));
    expect(left).toBe(0);
  });

  it("a node whose term of a worker was claimed away takes nothing of its budget", async () => {
    const store = await open();
    const [a, b] = [await joined(store, "a"), await joined(store, "b")];
    const old = await running(store, "w", a);
    const take = (right: RunFence): Promise<number> =>
      store.withBudget(
        "w/turns",
        (before = { limit: 50, portions: new Map(), spent: 0 }) => {
          const { budget, granted } = grant(before, right.node, 4);
          return { after: budget, result: granted };
        },
        right,
      );
    expect([await take(old), await take(old)]).toEqual([4, 4]);
    await store.bury("a", 1, 0);
    await store.claim("w", 1, b);
    await expect(take(old)).rejects.toThrow(RightOverError);
    expect(await take({ ...b, worker: "w", term: 2 })).toBe(4);
    const left = await store.withBudget("w/turns", (before) => ({ result: leftOf(before!) }));
    expect(left).toBe(38);
  });
};
