/** Workers that people place on a cluster of real daemons: they run where they shall, move when they must, and never run twice. */
import { expect, it } from "vitest";
import { CLUSTER_LEASE_MS } from "../../../src/base/limits.ts";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterOfMachines } from "./support/machines.ts";

/** The design asks for ten seconds on machines that are at rest. */
const ELSEWHERE_WITHIN_MS = 20_000;
/** Starts of a daemon, one of which is to be within its lease. */
const TRIES_MAX = 10;

const { clusterOf } = useClusters();

it("a worker runs on a node with its labels, is killed from any node, and its name is free again", async () => {
  const cluster = await clusterOf("labels", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  const placed = await a.agent("spawn", "--where", "node=b", "--name", "one", "--", "sleep", "1000");
  expect(placed.data).toMatchObject({ name: "one", node: "b", status: "running", effect: "created" });
  expect((await b.agent("info", "one")).data.id).toBe(placed.data.id);
  const again = await b.agent("spawn", "--where", "node=a", "--name", "one", "--", "sleep", "1000");
  expect(again).toMatchObject({ exit: 6, error: { code: "ALREADY_EXISTS" } });

  const killed = await a.agent("kill", "one");
  expect(killed.data).toMatchObject({
    results: [{ id: placed.data.id, effect: "deleted", status: "cancelled" }],
  });
  expect(await cluster.listed(b, "one")).toBeUndefined();
  const anew = await b.agent("spawn", "--where", "node=a", "--name", "one", "--", "sleep", "1000");
  expect(anew.data).toMatchObject({ node: "a", effect: "created" });
  // On its node it is a worker as any other.
  expect((await a.agent("kill", "one")).data).toMatchObject({
    results: [{ id: anew.data.id, effect: "deleted" }],
  });
  // Its last worker here has ended, and that of the cluster lives elsewhere.
  const third = await a.agent("spawn", "--where", "node=b", "--name", "one", "--", "sleep", "1000");
  expect(third.data).toMatchObject({ node: "b", effect: "created" });
  expect(await b.agent("rename", "one", "two")).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
  expect((await a.agent("kill", "one")).data).toMatchObject({
    results: [{ id: third.data.id, effect: "deleted" }],
  });
  expect(await cluster.listed(b, "one")).toBeUndefined();
  expect((await a.agent("kill", "nobody")).error?.code).toBe("WORKER_NOT_FOUND");

  const nowhere = await a.agent("spawn", "--where", "gpu=1", "--name", "lost", "--", "sleep", "1000");
  expect(nowhere.data).toMatchObject({ name: "lost", status: "pending", waits_for: "nowhere" });
  expect(nowhere.warnings.join()).toContain("no node has its labels");
  expect((await b.agent("cluster", "status")).data).toMatchObject({
    unplaced: 1,
    waiting: [{ name: "lost", why: "nowhere" }],
  });
  await b.agent("cluster", "leave");
  await cluster.join(b, "--label", "gpu=1");
  await until(async () => (await cluster.listed(b, "lost")) !== undefined);
  expect(await b.agent("cluster", "leave")).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
});

it("a spec with a secret, a program that is nowhere, and a wait are refused", async () => {
  const cluster = await clusterOf("refused", ["a"]);
  const [a] = cluster.machines as [ClusterOfMachines["machines"][0]];
  const secret = "sk-ant-api03-0123456789abcdefghij";
  const told = await a.agent("spawn", "--where", "node=a", "-e", `API_KEY=${secret}`, "--", "sleep", "9");
  expect(told).toMatchObject({ exit: 3, error: { code: "INVALID_REQUEST" } });
  expect(told.stdout).not.toContain(secret);
  const waiting = await a.agent("spawn", "--where", "node=a", "--wait", "--", "true");
  expect(waiting).toMatchObject({ exit: 3, error: { code: "INVALID_REQUEST" } });
  const elsewhere = await a.agent(
    "spawn",
    "--where",
    "node=a",
    "--cwd",
    "/no/such/place",
    "--name",
    "w",
    "--",
    "true",
  );
  expect(elsewhere.error?.message).toContain("The node a did not start it");
});

it("the worker of a machine without power runs elsewhere, and not on it when it comes back", async () => {
  const cluster = await clusterOf("power", ["a", "b", "c"]);
  const [a] = cluster.machines as [ClusterOfMachines["machines"][0]];
  await a.agent(...cluster.canary("bird", "--on-partition", "stop"));
  const lost = await cluster.placed("bird");
  const [other] = cluster.machines.filter((machine) => machine !== lost);
  const since = performance.now();
  cluster.powerOff(lost);
  await until(() => cluster.starts("bird") === 2);
  expect(performance.now() - since).toBeLessThan(ELSEWHERE_WITHIN_MS);
  await lost.agent("daemon", "start");
  await until(() => cluster.holdsLease(lost));
  expect(await cluster.listed(lost, "bird")).toBeUndefined();
  expect([cluster.starts("bird"), cluster.overlaps]).toEqual([2, []]);
  expect((await other!.agent("kill", "bird")).data).toMatchObject({ results: [{ effect: "deleted" }] });
});

it("a daemon that stands still keeps no agent beyond its lease, and starts none when it goes on", async () => {
  const cluster = await clusterOf("frozen", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  await b.agent(...cluster.canary("bird", "--where", "node=a"));
  await b.agent(...cluster.canary("goes-on", "--where", "node=a", "--on-partition", "continue"));
  await b.agent(...cluster.canary("roams", "--on-partition", "stop"));
  const pid = await a.daemonPid();
  const roamed = await cluster.placed("roams");
  const agent = await cluster.pidOn(a, "bird");
  process.kill(pid, "SIGSTOP");
  try {
    await until(() => isGone(agent));
    if (roamed === a) await until(() => cluster.starts("roams") === 2);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  // It belongs on a alone, so it begins there again, in another term.
  await until(() => cluster.starts("bird") === 2);
  await until(async () => (await cluster.listed(a, "goes-on")) !== undefined);
  expect([cluster.starts("goes-on"), cluster.overlaps]).toEqual([1, []]);
});

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

it("a daemon that is killed and starts again within its lease goes on with the same agents", async () => {
  const cluster = await clusterOf("restarted", ["a", "b"]);
  const [a] = cluster.machines as [ClusterOfMachines["machines"][0]];
  await a.agent(...cluster.canary("bird", "--where", "node=a"));
  // A machine that is too busy to start it within its lease ends the agents, as it must: then the next try says.
  for (let starts = 1; starts <= TRIES_MAX; starts++) {
    const before = await cluster.pidOn(a, "bird");
    const since = performance.now();
    await a.killDaemon();
    await a.agent("daemon", "start");
    await until(() => cluster.holdsLease(a));
    const isWithin = performance.now() - since < CLUSTER_LEASE_MS / 2;
    const after = await cluster.pidOn(a, "bird");
    expect([cluster.starts("bird"), cluster.overlaps]).toEqual([after === before ? starts : starts + 1, []]);
    if (after === before) return;
    expect(isWithin).toBe(false);
  }
  throw new Error(`The daemon never started within its lease, in ${TRIES_MAX} tries.`);
});

it("a drain moves the workers of a node, and no others; its end lets it take workers again", async () => {
  const cluster = await clusterOf("drained", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterOfMachines["machines"][0], ClusterOfMachines["machines"][0]];
  await a.agent(...cluster.canary("moves", "--on-partition", "stop"));
  const from = await cluster.placed("moves");
  const to = from === a ? b : a;
  await a.agent(...cluster.canary("stays", "--where", `node=${to.name}`));
  expect((await to.agent("drain", from.name)).data).toEqual({
    name: from.name,
    moves: 1,
    stranded: 0,
    workers: [],
    effect: "updated",
  });
  expect((await to.agent("drain", from.name)).data.effect).toBe("noop");
  await until(async () => (await cluster.listed(to, "moves")) !== undefined);
  expect([cluster.starts("moves"), cluster.starts("stays"), cluster.overlaps]).toEqual([2, 1, []]);
  expect((await a.agent("drain", from.name, "--undo")).data.effect).toBe("updated");
  expect((await a.agent("drain", "nobody")).error?.code).toBe("INVALID_REQUEST");
  const back = await a.agent("spawn", "--where", `node=${from.name}`, "--", "sleep", "1000");
  expect(back.data).toMatchObject({ node: from.name });
});
