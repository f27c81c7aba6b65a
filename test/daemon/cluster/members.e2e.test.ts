/** Nodes come and go, and one is drained: an agent keeps its process through all of it, unless a drain moves it. */
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";
import { beatsIn } from "./support/tables.ts";

const { clusterOf, postgres } = useClusters();

const BIRDS = ["finch", "lark", "owl", "robin", "wren", "swift"];
/** So often has each node renewed its lease, and more often looked at the cluster. */
const BEATS = 2;

it("a join, a leave, and a drain with its undo change the PID of no agent but of those that the drain moves", async () => {
  const cluster = await clusterOf("members", ["a", "b", "c"]);
  const [a, b, c] = cluster.machines as [ClusterMachine, ClusterMachine, ClusterMachine];
  const url = postgres()
    .url()
    .replace(/postgres$/, "members");
  /** All nodes that have a lease have acted on what was done. */
  const settled = async (nodes: readonly ClusterMachine[]): Promise<void> => {
    const before = await beatsIn(url);
    await until(async () => {
      const now = await beatsIn(url);
      return nodes.every(({ name }) => now[name]! >= before[name]! + BEATS);
    });
  };
  await c.agent("cluster", "leave");
  for (const [at, name] of BIRDS.entries())
    await a.agent(...cluster.canary(name, "--on-partition", at % 2 === 0 ? "stop" : "continue"));
  const first = await cluster.agents(BIRDS);
  expect(first.map(({ name }) => name)).toEqual(BIRDS.toSorted());

  await cluster.join(c);
  await settled([a, b, c]);
  expect(await cluster.agents(BIRDS)).toEqual(first);

  expect((await c.agent("cluster", "leave")).error).toBeNull();
  await settled([a, b]);
  expect(await cluster.agents(BIRDS)).toEqual(first);

  await cluster.join(c);
  const [leaving, staying] = [
    first.filter(({ machine }) => machine === "b"),
    first.filter(({ machine }) => machine !== "b"),
  ];
  expect(Math.min(leaving.length, staying.length)).toBeGreaterThan(0);
  expect((await a.agent("drain", "b")).data).toMatchObject({ moves: leaving.length, stranded: 0 });
  await until(() => leaving.every(({ name }) => cluster.starts(name) === 2));
  await settled([a, b, c]);
  const drained = await cluster.agents(BIRDS);
  expect(drained.filter(({ name }) => staying.some((each) => each.name === name))).toEqual(staying);
  expect(drained.filter(({ machine }) => machine === "b")).toEqual([]);

  expect((await a.agent("drain", "b", "--undo")).data).toMatchObject({ effect: "updated" });
  await settled([a, b, c]);
  expect(await cluster.agents(BIRDS)).toEqual(drained);
  const starts = BIRDS.map((name) => (leaving.some((each) => each.name === name) ? 2 : 1));
  expect([BIRDS.map((name) => cluster.starts(name)), cluster.overlaps]).toEqual([starts, []]);
});
