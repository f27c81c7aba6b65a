/** A node of a cluster of real daemons as people ask it: for places, for ends, and to leave, also while one of these is under way. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterMachine } from "./support/machines.ts";

/** A desk waits up to ten seconds for a node. */
const AT_ONCE_MS = 5_000;

const { clusterOf } = useClusters();

const waitingAt = async (machine: ClusterMachine): Promise<unknown> =>
  (await machine.agent("cluster", "status")).data.waiting;

it("a leave that is refused takes nothing from a spawn that is under way", async () => {
  const cluster = await clusterOf("refused", ["a"]);
  const [a] = cluster.machines as [ClusterMachine];
  await a.agent("cluster", "leave");
  await cluster.join(a, "--capacity", "1");
  await a.agent("spawn", "--where", "node=a", "--name", "first", "--", "sleep", "1000");
  const spawning = a.agent("spawn", "--where", "node=a", "--name", "second", "--", "sleep", "1000");
  await until(async () => JSON.stringify(await waitingAt(a)).includes("second"));
  expect(await a.agent("cluster", "leave")).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
  await a.agent("kill", "first");
  expect((await spawning).data).toMatchObject({ name: "second", node: "a", status: "running" });
});

it("a worker that fits no node is told so at once, and waits for one", async () => {
  const cluster = await clusterOf("nowhere", ["a"]);
  const [a] = cluster.machines as [ClusterMachine];
  const since = performance.now();
  const placed = await a.agent("spawn", "--where", "node=zz", "--name", "lost", "--", "sleep", "1000");
  expect(performance.now() - since).toBeLessThan(AT_ONCE_MS);
  expect(placed.data).toMatchObject({ name: "lost", status: "pending", waits_for: "nowhere" });
  expect(await waitingAt(a)).toEqual([{ name: "lost", why: "nowhere" }]);
});

it("several names are killed in one call wherever they run, and each is told", async () => {
  const cluster = await clusterOf("several", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await a.agent(...cluster.canary("far", "--where", "node=b"));
  await a.agent(...cluster.canary("near", "--where", "node=a"));
  await a.agent(...cluster.canary("further", "--where", "node=b"));
  await a.agent(...cluster.canary("own"));
  await until(async () => (await cluster.listed(b, "further")) !== undefined);
  const killed = await a.agent("kill", "far", "near", "nobody", "own", "further");
  expect(killed).toMatchObject({ error: { code: "PARTIAL_FAILURE" } });
  expect(killed.meta.partial).toMatchObject({
    results: [
      { name: "far", effect: "deleted" },
      { name: "near", effect: "deleted" },
      { id: "nobody", error: { code: "WORKER_NOT_FOUND" } },
      { name: "own", effect: "deleted" },
      { name: "further", effect: "deleted" },
    ],
  });
  for (const name of ["far", "near", "own", "further"]) await until(() => !cluster.sings(name));
  await a.agent(...cluster.canary("far", "--where", "node=b"));
  await a.agent(...cluster.canary("near", "--where", "node=a"));
  const below = await a.agent("kill", "--subtree", "far", "near");
  expect(below.data).toMatchObject({
    results: [
      { name: "far", effect: "deleted" },
      { name: "near", effect: "deleted" },
    ],
  });
  for (const name of ["far", "near"]) await until(() => !cluster.sings(name));
});

it("an end from another node says by whom, also that of a file, and one that is refused ends nothing", async () => {
  const cluster = await clusterOf("whom", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const sentenceOf = async (name: string) => {
    const { error } = (await b.agent("info", name)).data as { error: { message: string } | null };
    return error?.message;
  };
  await a.agent(...cluster.canary("far", "--where", "node=b"));
  await until(async () => (await cluster.listed(b, "far")) !== undefined);
  expect((await b.agent("kill", "far", "--signal", "SIGNONE")).error?.code).toBe("INVALID_REQUEST");
  expect((await a.agent("kill", "far", "--signal", "SIGNONE")).error?.code).toBe("INVALID_REQUEST");
  const killed = await a.agent("kill", "far", "--reason", "nobody needs it");
  expect(killed.data).toMatchObject({
    results: [{ effect: "deleted", status: "cancelled", checked_by: expect.any(Array) }],
  });
  expect(await sentenceOf("far")).toBe("Killed by user: nobody needs it.");
  expect((await a.agent("kill", "far")).data).toMatchObject({
    results: [{ effect: "noop", status: "cancelled" }],
  });
  const file = join(a.home, "whom.yaml");
  const child = { name: "filed", argv: ["sleep", "1000"], restart: "transient" };
  const children = [{ ...child, placement: { where: { node: "b" } } }];
  writeFileSync(file, JSON.stringify({ version: 1, name: "whom", tree: { children } }));
  expect(await a.agent("up", "-f", file)).toMatchObject({ exit: 0 });
  expect(await a.agent("down", "-f", file)).toMatchObject({ exit: 0 });
  expect(await sentenceOf("filed")).toBe("Killed by user: its tree was taken down.");
  expect(cluster.starts("far")).toBe(1);
});

it("a daemon that is stopped with its agents gives them to other nodes at once, and takes workers again later", async () => {
  const cluster = await clusterOf("stopped", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await b.agent("drain", "b");
  for (const name of ["stops", "goes-on"])
    await a.agent(...cluster.canary(name, "--on-partition", name === "stops" ? "stop" : "continue"));
  await until(() => cluster.sings("stops") && cluster.sings("goes-on"));
  await b.agent("drain", "b", "--undo");
  const since = performance.now();
  expect((await a.agent("daemon", "stop", "--kill-agents")).exit).toBe(0);
  await until(() => cluster.starts("stops") === 2 && cluster.starts("goes-on") === 2);
  expect(performance.now() - since).toBeLessThan(AT_ONCE_MS);
  await a.agent("daemon", "start");
  const back = await a.agent("spawn", "--where", "node=a", "--name", "later", "--", "sleep", "1000");
  expect(back.data).toMatchObject({ name: "later", node: "a", status: "running" });
  expect(cluster.overlaps).toEqual([]);
});

it("a daemon that is stopped without its agents keeps its workers, and takes no others meanwhile", async () => {
  const cluster = await clusterOf("kept", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await b.agent(...cluster.canary("stays", "--where", "node=a"));
  const before = await cluster.pidOn(a, "stays");
  expect((await a.agent("daemon", "stop", "--keep-agents")).exit).toBe(0);
  await a.agent("daemon", "start");
  await until(async () => (await cluster.listed(a, "stays")) !== undefined);
  expect([await cluster.pidOn(a, "stays"), cluster.starts("stays"), cluster.overlaps]).toEqual([
    before,
    1,
    [],
  ]);
});

it("an idempotency key is one of a request in the whole cluster", async () => {
  const cluster = await clusterOf("keys", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const spawns = (machine: ClusterMachine, name: string, key: string) =>
    machine.agent(
      ...["spawn", "--where", "node=a", "--name", name, "--idempotency-key", key],
      "--",
      "sleep",
      "1000",
    );
  const answers = await Promise.all([spawns(a, "one", "k"), spawns(b, "two", "k")]);
  expect(answers.map(({ data, error }) => error?.code ?? data.effect).sort()).toEqual([
    "VERSION_CONFLICT",
    "created",
  ]);
  const name = answers.find(({ exit }) => exit === 0)?.data.name as string;
  expect((await spawns(b, name, "k")).data).toMatchObject({ name, effect: "noop" });
  const twins = await Promise.all([spawns(a, "twin", "l"), spawns(b, "twin", "l")]);
  expect(twins.map(({ data }) => data.effect).sort()).toEqual(["created", "noop"]);
  expect((await spawns(b, "twin", "m")).error?.code).toBe("ALREADY_EXISTS");
  await b.agent("kill", "twin");
  const renewed = await spawns(b, "twin", "m");
  expect(renewed.data).toMatchObject({ name: "twin", effect: "created" });
  // Its name has another worker by now, and later none that lives.
  const { id } = twins[0]!.data;
  expect((await spawns(a, "twin", "l")).data).toMatchObject({ id, effect: "noop", status: "cancelled" });
  await b.agent("kill", "twin");
  expect((await spawns(a, "twin", "l")).data).toMatchObject({ id, effect: "noop", status: "cancelled" });
  expect((await spawns(a, "twin", "m")).data).toMatchObject({ id: renewed.data.id, effect: "noop" });
});

it("a drain outlasts the daemon of its node, also where the others have declared it dead", async () => {
  const cluster = await clusterOf("stays_drained", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  const stateOfB = async () => {
    const nodes = (await a.agent("cluster", "status")).data.nodes as { name: string; state: string }[];
    return nodes.find(({ name }) => name === "b")?.state;
  };
  await a.agent("drain", "b");
  cluster.powerOff(b);
  await until(async () => (await stateOfB()) === "dead");
  await b.agent("daemon", "start");
  await until(() => cluster.holdsLease(b));
  expect(await stateOfB()).toBe("draining");
});

it("a worker that moves to a node where its name is in use ends, and the status of the cluster says why", async () => {
  const cluster = await clusterOf("in_use", ["a", "b"]);
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  await a.agent("drain", "b");
  await a.agent(...cluster.canary("bird", "--on-partition", "stop"));
  await until(() => cluster.sings("bird"));
  const own = await b.agent("spawn", "--name", "bird", "--", "sleep", "1000");
  await a.agent("drain", "b", "--undo");
  await a.agent("daemon", "stop", "--kill-agents");
  await until(
    async () => ((await b.agent("cluster", "status")).data.failed as readonly unknown[]).length > 0,
  );
  const why = `A living worker is called "bird" already: ${own.data.id}.`;
  expect((await b.agent("cluster", "status")).data).toMatchObject({
    failed: [{ name: "bird", node: "b", why, ended_ms_ago: expect.any(Number) }],
  });
  const { stdout } = await b.text("cluster", "status");
  expect(stdout).toMatch(/^bird ended on b \S+ ago: A living worker is called/m);
});
