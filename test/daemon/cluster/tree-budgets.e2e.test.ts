/** The budget of a file whose workers run on several machines is one: what all of them spend counts, and its end is one for all. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";
import { isAllTold, linesAbout, withTarget } from "./support/told.ts";

const LINE_BYTES = 100;
const BUDGET_BYTES = 100_000;
/** Each run of the worker that is here, and of the one that is placed. */
const NEAR_BYTES = 85_000;
const FAR_BYTES = 40_000;
/** A machine holds at most two portions that its worker has not spent. */
const HELD_BYTES_MAX = (2 * 2 * BUDGET_BYTES) / 16;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-tree-budgets-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const { clusterOf } = useClusters();

interface ShownBudget {
  readonly owner: string;
  readonly state: string;
  readonly spent: { readonly output_bytes: number };
  readonly bounds: { readonly output_bytes: number };
}

/** A run writes so much, and then lives on. */
const writer = (name: string, bytes: number) => ({
  name,
  restart: "transient",
  cwd: dir,
  argv: ["sh", "-c", `yes ${"x".repeat(LINE_BYTES - 1)} | head -n ${bytes / LINE_BYTES}; exec sleep 100000`],
});

const farAway = (name: string) => ({ ...writer(name, FAR_BYTES), placement: { where: { zone: "far" } } });

/** JSON is YAML. */
const fileOf = (tree: string, output: number, more: object = {}): string => {
  const path = join(dir, `${tree}.yaml`);
  const children = [writer("near", NEAR_BYTES), farAway("far")];
  writeFileSync(
    path,
    JSON.stringify({ version: 1, name: tree, tree: { budget: `output=${output}`, children, ...more } }),
  );
  return path;
};

const budgetAt = async (machine: ClusterMachine, worker: string): Promise<ShownBudget | undefined> =>
  ((await machine.agent("info", worker)).data?.budgets as readonly ShownBudget[] | undefined)?.[0];

const hasSpent = (machine: ClusterMachine, worker: string, bytes: number) => async (): Promise<boolean> =>
  ((await budgetAt(machine, worker))?.spent.output_bytes ?? 0) >= bytes;

const isPaused = (machine: ClusterMachine, worker: string) => async (): Promise<boolean> =>
  ((await machine.agent("info", worker)).data?.paused as readonly unknown[] | undefined)?.length === 1;

const runs = (machine: ClusterMachine, worker: string) => async (): Promise<boolean> => {
  const { data } = await machine.agent("info", worker);
  return data?.state === "running" && ((data.paused as readonly unknown[] | undefined) ?? []).length === 0;
};

/** While its node waits for the next portion, a budget may ask for a moment. */
const isOpen = (machine: ClusterMachine, worker: string) => async (): Promise<boolean> =>
  (await budgetAt(machine, worker))?.state === "open";

const clusterWithZone = async (name: string, machines: readonly string[]) => {
  const cluster = await clusterOf(name, machines, withTarget);
  for (const machine of cluster.machines.slice(1)) {
    await machine.agent("cluster", "leave");
    await cluster.join(machine, "--label", "zone=far");
  }
  return cluster;
};

it("two machines pass one budget together and both wait, a person raises it for both, and a move takes it along", async () => {
  const cluster = await clusterWithZone("tree_budget", ["a", "b", "c"]);
  const [a, b, c] = cluster.machines as [ClusterMachine, ClusterMachine, ClusterMachine];
  const file = fileOf("shop", BUDGET_BYTES);
  expect((await a.agent("up", "-f", file)).exit).toBe(0);
  const first = await cluster.placed("far");
  await until(isPaused(a, "near"));
  await until(isPaused(first, "far"));
  const both = NEAR_BYTES + FAR_BYTES;
  await until(hasSpent(a, "near", both));
  await until(hasSpent(first, "far", both));
  for (const [machine, worker] of [
    [a, "near"],
    [first, "far"],
  ] as const)
    expect(await budgetAt(machine, worker)).toMatchObject({
      owner: "shop",
      state: "asked",
      spent: { output_bytes: both },
      bounds: { output_bytes: BUDGET_BYTES },
    });

  const told = () => linesAbout(cluster.machines, "spend more").length;
  await until(() => told() === 1);
  for (const machine of [a, first]) await until(() => isAllTold(machine));
  expect(told()).toBe(1);

  await first.agent("answer", "far", "continue");
  await until(runs(first, "far"));
  await until(runs(a, "near"));
  await until(isOpen(a, "near"));
  expect(await budgetAt(a, "near")).toMatchObject({
    spent: { output_bytes: both },
    bounds: { output_bytes: 2 * BUDGET_BYTES },
  });
  // Neither asks any more.
  expect((await a.agent("inbox")).data).toEqual([]);

  const second = first === b ? c : b;
  cluster.powerOff(first);
  await until(hasSpent(second, "far", both + FAR_BYTES));
  await until(isOpen(second, "far"));
  expect(await budgetAt(second, "far")).toMatchObject({
    spent: { output_bytes: both + FAR_BYTES },
    bounds: { output_bytes: 2 * BUDGET_BYTES },
  });

  // Back on the first one: what is left of the second is given back, and a third run is more than the rest.
  await first.agent("daemon", "start");
  await until(() => cluster.holdsLease(first));
  await a.agent("drain", second.name);
  await until(isPaused(first, "far"));
  await until(isPaused(a, "near"));
  const all = both + 2 * FAR_BYTES;
  await until(hasSpent(a, "near", 2 * BUDGET_BYTES - HELD_BYTES_MAX));
  expect((await budgetAt(a, "near"))!.spent.output_bytes).toBeLessThanOrEqual(all);

  await until(() => told() === 2);
  for (const machine of [a, first]) await until(() => isAllTold(machine));
  expect(told()).toBe(2);

  await a.agent("answer", "near", "stop");
  await until(async () => (await a.agent("info", "near")).data.state === "failed");
  await until(async () => (await first.agent("info", "far")).data.state === "failed");

  // A file that was taken down has its budget anew.
  expect((await a.agent("down", "-f", file)).exit).toBe(0);
  expect((await a.agent("up", "-f", fileOf("shop", 2 * BUDGET_BYTES))).exit).toBe(0);
  await until(hasSpent(a, "near", both));
  await until(isOpen(a, "near"));
  expect(await budgetAt(a, "near")).toMatchObject({ spent: { output_bytes: both } });
  expect(cluster.overlaps).toEqual([]);
});

it("the question of placed workers alone is told once, with a name that answers it", async () => {
  const cluster = await clusterWithZone("tree_told", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const children = ["one", "two", "three"].map(farAway);
  const file = fileOf("placed", BUDGET_BYTES, { children });
  expect((await a.agent("up", "-f", file)).exit).toBe(0);
  const told = () => linesAbout(cluster.machines, "spend more");
  await until(() => told().length === 1);
  await until(() => isAllTold(b));
  expect(told()).toHaveLength(1);
  const { data } = JSON.parse(told()[0]!) as { readonly data: { readonly question: string } };
  expect((await b.agent("answer", data.question, "continue")).exit).toBe(0);
  for (const name of ["one", "two", "three"]) await until(runs(b, name));
});

it("on_breach: stop ends the workers of both machines, and a file that says more leaves them alone", async () => {
  const cluster = await clusterWithZone("tree_stop", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const both = NEAR_BYTES + FAR_BYTES;
  const more = { on_breach: "stop" };
  expect((await a.agent("up", "-f", fileOf("ends", 2 * BUDGET_BYTES, more))).exit).toBe(0);
  await until(hasSpent(b, "far", both));
  const pids = [await cluster.pidOn(a, "near"), await cluster.pidOn(b, "far")];
  const up = await a.agent("up", "-f", fileOf("ends", 3 * BUDGET_BYTES, more));
  expect(up.exit).toBe(0);
  await until(async () => (await budgetAt(b, "far"))?.bounds.output_bytes === 3 * BUDGET_BYTES);
  expect([await cluster.pidOn(a, "near"), await cluster.pidOn(b, "far")]).toEqual(pids);
  await until(isOpen(b, "far"));
  expect(await budgetAt(b, "far")).toMatchObject({ spent: { output_bytes: both } });

  expect((await a.agent("up", "-f", fileOf("ends", BUDGET_BYTES, more))).exit).toBe(0);
  await until(async () => (await a.agent("info", "near")).data.state === "failed");
  await until(async () => (await b.agent("info", "far")).data.state === "failed");
});
