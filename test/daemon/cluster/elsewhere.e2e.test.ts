/** Commands that read say at any node what the cluster knows of placed workers on the others, also where a machine is lost. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Runtime } from "../../../src/library/index.ts";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

const { clusterOf, cuttableCluster } = useClusters();

const nodeState = async (at: ClusterMachine, name: string): Promise<string | undefined> => {
  const nodes = (await at.agent("cluster", "status")).data.nodes as { name: string; state: string }[] | null;
  return nodes?.find((node) => node.name === name)?.state;
};

const elsewhereOf = async (at: ClusterMachine, ...words: readonly string[]) =>
  (await at.agent(...words)).meta.elsewhere as Record<string, unknown>[] | undefined;

it("list and info of a worker whose machine is lost say what the copy knows, and as of when", async () => {
  const cluster = await clusterOf("elsewhere", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const pinned = ["spawn", "--where", "node=b", "--label", "team=x", "--restart", "permanent"];
  const program = ["sh", "-c", "echo here it is; exec sleep 100000"];
  const { id } = (await a.agent(...pinned, "--name", "far", "--", ...program)).data;
  await a.agent("spawn", "--name", "near", "--", "sleep", "100000");
  await until(async () => (await b.agent("logs", "far")).stdout.includes("here it is"));
  await until(() => cluster.isCopied(b));
  const known = {
    source: "copy",
    name: "far",
    id,
    node: "b",
    kind: "command",
    task: "sh -c 'echo here it is; exec sleep 100000'",
    labels: { team: "x" },
    desired: "running",
    last: { state: "running", incarnation: 1 },
  };
  expect(await elsewhereOf(a, "list")).toMatchObject([{ ...known, node_state: "active" }]);
  expect(await elsewhereOf(b, "list")).toBeUndefined();

  cluster.powerOff(b);
  await until(async () => (await nodeState(a, "b")) === "dead");
  const listed = await a.agent("list");
  expect(listed.exit).toBe(0);
  expect((listed.data as unknown as { name: string }[]).map(({ name }) => name)).toEqual(["near"]);
  expect(listed.meta.elsewhere).toMatchObject([{ ...known, node_state: "dead" }]);
  const [row] = listed.meta.elsewhere as [{ beat_age_ms: number; through: number; last: { seq: number } }];
  expect(row.beat_age_ms).toBeGreaterThan(0);
  expect(row.through).toBeGreaterThanOrEqual(row.last.seq);
  const shown = (await a.text("list")).stdout;
  expect(shown).toMatch(/NODE +LEASE +ID +NAME +KIND +LAST STATE/);
  expect(shown).toMatch(/^b +dead, renewed .+ ago +\S+ +far +command +running/m);
  expect((await a.text("list", "-q")).stdout.trim().split("\n")).toHaveLength(1);
  expect(await elsewhereOf(a, "list", "--label", "team=x")).toHaveLength(1);
  for (const words of [
    ["--label", "team=y"],
    ["--kind", "claude"],
    ["--state", "running"],
  ])
    expect(await elsewhereOf(a, "list", ...words)).toBeUndefined();

  const told = await a.agent("info", "far");
  expect(told).toMatchObject({ exit: 0, data: { ...known, node_state: "dead" } });
  expect(told.warnings.join()).toContain("from the cluster's copy");
  const info = await a.text("info", id as string);
  expect(info.stdout).toMatch(/node +b, dead, renewed its lease .+ ago/);
  expect(info.stdout).toMatch(/last state +running, at /);
  expect(info.stdout).toContain("here it is");
  expect(await a.agent("info", "nobody")).toMatchObject({ exit: 5, error: { code: "WORKER_NOT_FOUND" } });

  const runtime = await Runtime.connect({ stateDir: a.home });
  expect(await runtime.elsewhere()).toMatchObject({
    workers: [{ ...known, node_state: "dead" }],
    next: null,
  });
  expect(await runtime.elsewhere({ worker: "near" })).toMatchObject({ workers: [] });
  await runtime.close();
});

it("tree shows the workers of a file on other nodes, and down --dry-run names them from any node", async () => {
  const cluster = await clusterOf("elsewhere_tree", ["a", "b", "c"]);
  const [a, b, c] = cluster.machines as [ClusterMachine, ClusterMachine, ClusterMachine];
  const child = (name: string, more: object = {}) => ({
    name,
    argv: cluster.song(name),
    restart: "transient",
    ...more,
  });
  const on = (node: string) => ({ placement: { where: { node } } });
  const children = [child("far", on("b")), child("own", on("a")), child("near")];
  const file = join(a.home, "shop.yaml");
  writeFileSync(file, JSON.stringify({ version: 1, name: "shop", tree: { children } }));
  expect((await a.agent("up", "-f", file)).exit).toBe(0);
  await until(() => ["far", "own", "near"].every((name) => cluster.sings(name)));

  cluster.powerOff(b);
  await until(async () => (await nodeState(a, "b")) === "dead");
  const tree = await a.agent("tree");
  expect(tree.data.elsewhere).toMatchObject([{ name: "far", node: "b", tree: "shop", node_state: "dead" }]);
  expect((await a.text("tree")).stdout).toMatch(/^b +dead, renewed .+ ago +shop +\S+ +far /m);
  expect((await c.agent("tree")).data.elsewhere).toMatchObject([{ name: "far" }, { name: "own", node: "a" }]);

  const namedBy = async (at: ClusterMachine, ...words: readonly string[]) => {
    const { exit, data } = await at.agent("down", ...words);
    expect(exit).toBe(0);
    const changes = data.changes as { path: string; action: string; node?: string }[];
    return Object.fromEntries(changes.map(({ path, action, node }) => [path, [action, node]]));
  };
  const all = { far: ["remove", "b"], own: ["remove", "a"], near: ["remove", undefined] };
  expect(await namedBy(a, "shop", "--dry-run")).toEqual(all);
  expect(await namedBy(a, "-f", file, "--dry-run")).toEqual(all);
  const { near: _, ...placed } = all;
  expect(await namedBy(c, "shop", "--dry-run")).toEqual(placed);
  expect((await a.text("down", "shop", "--dry-run")).stdout).toContain("far  remove on the node b");
  expect(await a.agent("down", "nothing", "--dry-run")).toMatchObject({
    error: { code: "WORKER_NOT_FOUND" },
  });
  expect([cluster.sings("own"), cluster.sings("near"), cluster.starts("own")]).toEqual([true, true, 1]);
  expect(await namedBy(a, "shop")).toEqual(all);
  await until(() => !cluster.sings("own") && !cluster.sings("near"));
});

it("a database that is away costs a list one bounded look, and a sentence", async () => {
  const { cluster, way } = await cuttableCluster("elsewhere_away", ["a", "b"]);
  const [a] = cluster.machines as [ClusterMachine];
  await a.agent("spawn", "--where", "node=b", "--name", "far", "--", "sleep", "100000");
  expect(await elsewhereOf(a, "list")).toMatchObject([{ name: "far" }]);
  way.cut();
  const list = await a.agent("list");
  expect(list).toMatchObject({ exit: 0, data: [] });
  expect(list.warnings.join()).toContain("The workers of other nodes are not shown");
  expect(list.meta.duration_ms).toBeLessThan(4_000);
  expect(await a.agent("info", "far")).toMatchObject({ error: { code: "UNAVAILABLE" } });
  way.mend();
  await until(async () => (await elsewhereOf(a, "list"))?.length === 1);
});
