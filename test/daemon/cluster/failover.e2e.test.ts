/**
 * The database of a cluster is lost, and another server takes its place after a while: real daemons, and two servers of Postgres of
 * which one is the synchronous standby of the other. HOLDFAST_OUTAGE_S says how long no server is there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { ClusterOfMachines } from "./support/machines.ts";
import { copiesIn } from "./support/tables.ts";
import { CuttableWay } from "./support/way.ts";

const OUTAGE_S = Number(process.env.HOLDFAST_OUTAGE_S ?? 0);
const TIME_MAX_MS = 240_000 + OUTAGE_S * 1_000;

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

it("another server takes over: who goes on does so, who stops runs again, and no copied record is missing", {
  timeout: TIME_MAX_MS,
}, async () => {
  const primary = await TestPostgres.start();
  closing.push(() => primary.remove());
  const standby = await primary.standby();
  closing.push(() => standby.remove());
  const url = await primary.database("failover");
  const way = await CuttableWay.make(primary.port);
  closing.push(() => way.close());
  const cluster = await ClusterOfMachines.start(
    () => url.replace(`:${primary.port}/`, `:${way.port}/`),
    ["a", "b"],
  );
  closing.push(() => cluster.close());
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  const copied = async (machine: typeof a) =>
    (
      (await machine.agent("cluster", "status")).data.self as {
        copy: { copied_to: number; behind: number | null };
      }
    ).copy;
  await a.agent(...cluster.canary("stops", "--on-partition", "stop"));
  await a.agent(...cluster.canary("goes-on", "--on-partition", "continue"));
  const lines = "n=0; while :; do n=$((n+1)); echo line $n; sleep 0.05; done";
  const told = ["spawn", "--name", "tells", "--where", "node=a", "--on-partition", "continue"];
  await b.agent(...told, "--", "sh", "-c", lines);
  const [pid, teller] = [
    await cluster.pidOn(await cluster.placed("goes-on"), "goes-on"),
    await cluster.pidOn(a, "tells"),
  ];
  await until(async () => (await copied(a)).copied_to > 100);

  const before = await Promise.all(
    cluster.machines.map(async (machine) => (await copied(machine)).copied_to),
  );
  await primary.stop();
  await until(async () => (await cluster.where("stops")) === undefined);
  await sleep(OUTAGE_S * 1_000);
  await standby.promote();
  way.turnTo(standby.port);

  await until(() => cluster.starts("stops") === 2);
  expect([cluster.starts("goes-on"), cluster.overlaps]).toEqual([1, []]);
  expect(await cluster.pidOn(await cluster.placed("goes-on"), "goes-on")).toBe(pid);
  expect(await cluster.pidOn(a, "tells")).toBe(teller);
  const after = url.replace(`:${primary.port}/`, `:${standby.port}/`);
  await b.agent("kill", "tells");
  await until(async () =>
    (await Promise.all(cluster.machines.map(copied))).every(({ behind }) => behind === 0),
  );
  const copies = await copiesIn(after);
  for (const { copied_to, records } of copies) expect(records).toBe(copied_to);
  expect(copies.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(before[0]! + before[1]!);
});
