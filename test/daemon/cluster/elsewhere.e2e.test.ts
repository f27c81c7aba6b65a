/** Commands that read say at any node what the cluster knows of placed workers on the others, also where a machine is lost. */
import { expect, it } from "vitest";
import { Runtime } from "../../../src/library/index.ts";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import { type ClusterMachine, ClusterOfMachines } from "./support/machines.ts";
import { CuttableWay } from "./support/way.ts";

const { postgres, clusterOf } = useClusters();

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

it("a database that is away costs a list one bounded look, and a sentence", async () => {
  const url = await postgres().database("elsewhere_away");
  const way = await CuttableWay.make(postgres().port);
  const through = new URL(url);
  through.port = String(way.port);
  const cluster = await ClusterOfMachines.start((name) => (name === "a" ? through.href : url), ["a", "b"]);
  try {
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
  } finally {
    way.close();
    await cluster.close();
  }
});
