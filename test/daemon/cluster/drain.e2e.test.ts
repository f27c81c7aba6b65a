/** A drain says which workers have no other place, and what becomes of them, before it happens and when it does. */
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

const { clusterOf } = useClusters();

const LABELS: Readonly<Record<string, readonly string[]>> = {
  a: ["--label", "pool=1", "--capacity", "2"],
  b: ["--label", "pool=1", "--label", "gpu=1"],
};

it("a drain tells how many workers have no other place, and a dry run changes nothing", async () => {
  const cluster = await clusterOf("stranded", ["a", "b"], ({ name }) => LABELS[name]!);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await a.agent(...cluster.canary("fills", "--where", "node=a"));
  await a.agent(...cluster.canary("p1", "--where", "pool=1"));
  await a.agent(...cluster.canary("p2", "--where", "pool=1"));
  await a.agent(...cluster.canary("train", "--where", "gpu=1"));
  await a.agent("spawn", "--name", "job", "--where", "pool=1", "--", ...cluster.song("job"));
  for (const name of ["p1", "p2", "train", "job"]) await cluster.pidOn(b, name);
  const told = {
    name: "b",
    moves: 1,
    stranded: 3,
    workers: [
      { name: "job", why: "once" },
      { name: "p2", why: "full" },
      { name: "train", why: "nowhere" },
    ],
  };
  expect((await a.agent("drain", "b", "--dry-run")).data).toEqual({ ...told, effect: "would_update" });
  const { nodes } = (await a.agent("cluster", "status")).data as { nodes: readonly { state: string }[] };
  expect(nodes).toMatchObject([{ state: "active" }, { state: "active", placed: 4 }]);

  const { stdout } = await a.text("drain", "b");
  expect(stdout.trimEnd().split("\n")).toEqual([
    "b  takes no workers, and its own move to other nodes",
    "3 of its 4 workers cannot move:",
    "  job: its restart policy is temporary: it ends, and is not started again",
    "  p2: the other nodes with its labels are full: it ends, and waits for room",
    "  train: no other node has its labels: it ends, and agent inbox asks where it should run",
  ]);
  await cluster.pidOn(a, "p1");
  await until(() => !["job", "p2", "train"].some((name) => cluster.sings(name)));
  await until(async () => {
    const holds = (await a.agent("inbox")).data as unknown as readonly { worker: string }[];
    return holds.map(({ worker }) => worker).join() === "train";
  });
  expect((await a.agent("cluster", "status")).data.waiting).toContainEqual({ name: "p2", why: "full" });
  expect((await a.agent("drain", "b", "--undo", "--dry-run")).data).toMatchObject({
    stranded: 0,
    effect: "would_update",
  });
  expect((await a.agent("drain", "b", "--undo")).data).toMatchObject({ moves: 0, effect: "updated" });
  await until(() => cluster.sings("train") && cluster.sings("p2"));
  expect([cluster.starts("job"), cluster.overlaps]).toEqual([1, []]);
});
