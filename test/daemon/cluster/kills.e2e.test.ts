/** A placed worker that ignores TERM, and its graces: its node keeps the one of a kill, and a second kill from anywhere ends it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine, ClusterOfMachines } from "./support/machines.ts";
import { rowsIn } from "./support/tables.ts";

const { clusterOf, postgres } = useClusters();

/** It runs on b until its file is there, or until it is killed. */
const stubborn = async (cluster: ClusterOfMachines, name: string): Promise<string> => {
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const end = join(b.home, `end-${name}`);
  const script = cluster.song(name)[2]!.replace("sleep 100000", `until [ -e ${end} ]; do sleep 0.05; done`);
  const spawn = ["spawn", "--where", "node=b", "--name", name, "--grace", "60s", "--restart", "transient"];
  await a.agent(...spawn, "--", "sh", "-c", `trap '' TERM; ${script}`);
  await until(() => cluster.sings(name));
  return end;
};

const isStopping = async (machine: ClusterMachine, name: string): Promise<boolean> =>
  (await machine.agent("info", name)).data?.state === "stopping";

it("a second kill from another node ends a long grace, as on one machine", async () => {
  const cluster = await clusterOf("again", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  for (const name of ["far", "moving"]) await stubborn(cluster, name);
  const first = a.start(["kill", "far", "--reason", "the first"]);
  await until(() => isStopping(b, "far"));
  expect(cluster.sings("far")).toBe(true);
  expect((await a.agent("kill", "far", "--grace", "0s")).data).toMatchObject({
    results: [{ name: "far", effect: "deleted", status: "cancelled" }],
  });
  expect(cluster.sings("far")).toBe(false);
  expect((await first.ended).exit).toBe(0);
  const { error } = (await b.agent("info", "far")).data as { error: { message: string } };
  expect(error.message).toBe("Killed by user: the first.");
  expect((await a.agent("kill", "far")).data).toMatchObject({ results: [{ effect: "noop" }] });

  // A drain is the first one, too.
  await a.agent("drain", "b");
  await until(() => isStopping(b, "moving"));
  expect((await a.agent("kill", "moving")).data).toMatchObject({ results: [{ status: "cancelled" }] });
  expect([cluster.sings("moving"), cluster.overlaps]).toEqual([false, []]);
});

it("one kill is one: neither the looks of its node nor the next daemon end its grace", async () => {
  const cluster = await clusterOf("once", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const url = postgres()
    .url()
    .replace(/postgres$/, "once");
  const beatOf = async (): Promise<number> =>
    (await rowsIn<{ beat: number }>(url, "select beat::integer from node where id = 'b'"))[0]!.beat;
  /** So often has the node looked at the cluster, and more often at its tombstones. */
  const looks = async (count: number): Promise<void> => {
    const before = await beatOf();
    await until(async () => (await beatOf()) >= before + count);
  };
  const [near, far] = [await stubborn(cluster, "near"), await stubborn(cluster, "far")];
  const here = b.start(["kill", "near"]);
  const there = a.start(["kill", "far"]);
  for (const name of ["near", "far"]) await until(() => isStopping(b, name));
  await looks(2);
  expect([cluster.sings("near"), cluster.sings("far")]).toEqual([true, true]);
  await b.killDaemon();
  await b.agent("daemon", "start");
  await until(() => cluster.holdsLease(b));
  await looks(2);
  expect([cluster.sings("near"), cluster.sings("far")]).toEqual([true, true]);
  for (const end of [near, far]) writeFileSync(end, "");
  for (const name of ["near", "far"])
    await until(async () => (await b.agent("info", name)).data?.state === "cancelled");
  await Promise.all([here.ended, there.ended]);
  expect([cluster.starts("near"), cluster.starts("far")]).toEqual([1, 1]);
});
