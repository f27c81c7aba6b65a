/** Files of a daemon that is no node any more, and workers of a file that end late on their nodes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { CLUSTER_STATEMENT_MAX_MS } from "../../../src/base/limits.ts";
import { type Commands, makeCommands, until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { type ClusterMachine, ClusterOfMachines } from "./support/machines.ts";
import { CuttableWay } from "./support/way.ts";

let postgres: TestPostgres;
let dir: string;
const made: { close(): unknown }[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-tree-ends-"));
  postgres = await TestPostgres.start();
});
afterEach(async () => {
  for (const each of made.splice(0)) await each.close();
});
afterAll(async () => {
  await postgres?.remove();
  rmSync(dir, { recursive: true, force: true });
});

const machinesOf = async (name: string, names: readonly string[], portOfB = postgres.port) => {
  const url = await postgres.database(name);
  const urlOfB = url.replace(`:${postgres.port}/`, `:${portOfB}/`);
  const cluster = await ClusterOfMachines.start((machine) => (machine === "b" ? urlOfB : url), names);
  made.push(cluster);
  return { cluster, machines: cluster.machines as readonly [ClusterMachine, ClusterMachine] };
};

const alone = (): Commands => {
  const commands = makeCommands();
  made.push(commands);
  return commands;
};

/** A file of children, each as a map. JSON is YAML. */
const fileOf = (tree: string, ...children: readonly object[]): string => {
  const path = join(dir, `${tree}.yaml`);
  writeFileSync(path, JSON.stringify({ version: 1, name: tree, tree: { children } }));
  return path;
};

const NEAR = { name: "near", argv: ["sleep", "1000"], restart: "transient" };

const isAsWithoutCluster = async ({ agent }: Commands, file: string): Promise<void> => {
  expect(await agent("up", "-f", file)).toMatchObject({ exit: 0, warnings: [] });
  expect(await agent("kill", "nosuch")).toMatchObject({ error: { code: "WORKER_NOT_FOUND" } });
  expect(await agent("down", "-f", file)).toMatchObject({ exit: 0, data: { state: "terminated" } });
  expect(await agent("cluster", "status")).toMatchObject({ exit: 0, data: { self: null } });
};

it("a daemon that has left its cluster, or has only made its tables, has files of its own as before", async () => {
  const { machines } = await machinesOf("ends_left", ["a"]);
  const [a] = machines;
  expect((await a.agent("cluster", "leave")).exit).toBe(0);
  await isAsWithoutCluster(a, fileOf("left", NEAR));
  const other = alone();
  await other.agent("daemon", "start");
  expect((await other.agent("cluster", "init", await postgres.database("ends_made"))).exit).toBe(0);
  await isAsWithoutCluster(other, fileOf("made", NEAR));
  expect((await other.agent("cluster", "init", "postgres://x@localhost:1/none")).exit).not.toBe(0);
  await isAsWithoutCluster(other, fileOf("failed", NEAR));
});

it("a cluster.json that cannot be read keeps no worker of this machine from its start or its end", async () => {
  const a = alone();
  await a.agent("daemon", "start");
  writeFileSync(join(a.home, "cluster.json"), "no JSON");
  const file = fileOf("unread", NEAR);
  const up = await a.agent("up", "-f", file);
  expect(up).toMatchObject({ exit: 0, data: { effect: "created" } });
  expect(up.warnings.join()).toContain("were not looked at: cluster.json");
  const placed = fileOf("unread-far", { ...NEAR, name: "far", placement: {} });
  expect(await a.agent("up", "-f", placed)).toMatchObject({ error: { code: "FILE_FAILED" } });
  const down = await a.agent("down", "-f", file);
  expect(down).toMatchObject({ error: { code: "FILE_FAILED" } });
  expect(down.error?.message).toContain("is stopped here");
  expect(down.warnings.join()).toContain("The cluster cannot be asked (cluster.json");
  expect((await a.agent("tree")).stdout).not.toContain("near");
});

it("down says before anything ends that the cluster does not answer, and its exit code tells", async () => {
  const { cluster, machines } = await machinesOf("ends_away", ["a"]);
  const [a] = machines;
  const end = join(dir, "end-away");
  const script = cluster.song("near")[2]!.replace("sleep 100000", `until [ -e ${end} ]; do sleep 0.05; done`);
  const near = { ...NEAR, argv: ["sh", "-c", `trap '' TERM; ${script}`], grace: "60s" };
  const file = fileOf("away", near);
  expect((await a.agent("up", "-f", file)).exit).toBe(0);
  await until(() => cluster.sings("near"));
  await postgres.stop();
  const down = a.start(["down", "-f", file]);
  await until(() => down.err().includes("workers of it on other nodes, if it has any, go on"));
  expect([down.err().includes("agent cluster status"), cluster.sings("near")]).toEqual([true, true]);
  writeFileSync(end, "");
  expect(await down.ended).toMatchObject({ exit: 12 });
  await postgres.start();
});

it("a worker that still stops on its node is started nowhere else, and is its file's until it has ended", async () => {
  const { cluster, machines } = await machinesOf("ends_late", ["a", "b"]);
  const [a] = machines;
  const end = join(dir, "end");
  const script = cluster.song("far")[2]!.replace("sleep 100000", `until [ -e ${end} ]; do sleep 0.05; done`);
  const argv = ["sh", "-c", `trap '' TERM; ${script}`];
  const far = { name: "far", argv, grace: "60s", restart: "transient" };
  const onB = { ...far, placement: { where: { node: "b" } } };
  const late = { error: { code: "TIMEOUT", message: "The worker far of late still stops on the node b." } };
  const ended = async (): Promise<void> => {
    writeFileSync(end, "");
    await until(() => !cluster.sings("far"));
    rmSync(end);
  };
  const begun = (starts: number): Promise<void> =>
    until(() => cluster.starts("far") === starts && cluster.sings("far"));
  expect((await a.agent("up", "-f", fileOf("late", onB))).exit).toBe(0);
  await begun(1);

  // It becomes a worker of this machine.
  const moved = await a.agent("up", "-f", fileOf("late", far));
  expect(moved).toMatchObject(late);
  expect(moved.error?.suggestion).toContain("again");
  expect([cluster.starts("far"), cluster.sings("far"), cluster.overlaps]).toEqual([1, true, []]);
  await ended();
  expect((await a.agent("up", "-f", fileOf("late", far))).exit).toBe(0);
  expect(await cluster.placed("far")).toBe(a);
  await begun(2);
  await ended();
  expect((await a.agent("down", "late")).exit).toBe(0);

  // It has another spec.
  expect((await a.agent("up", "-f", fileOf("late", onB))).exit).toBe(0);
  await begun(3);
  const other = fileOf("late", { ...onB, env: { A: "2" } });
  expect(await a.agent("up", "-f", other)).toMatchObject(late);
  await ended();
  expect((await a.agent("up", "-f", other)).exit).toBe(0);
  await begun(4);

  // Its tree goes down.
  expect(await a.agent("down", "late")).toMatchObject(late);
  expect(cluster.sings("far")).toBe(true);
  await ended();
  expect(await a.agent("down", "late")).toMatchObject({ exit: 0, data: { changes: [{ path: "far" }] } });
  expect(cluster.overlaps).toEqual([]);
});

it("a worker that was placed on the very node that is asked becomes a local one", async () => {
  const { cluster, machines } = await machinesOf("ends_here", ["a"]);
  const [a] = machines;
  const one = { name: "one", argv: cluster.song("one"), restart: "transient" };
  const placed = { ...one, placement: { where: { node: "a" } } };
  expect((await a.agent("up", "-f", fileOf("here", placed))).exit).toBe(0);
  await until(() => cluster.sings("one"));
  expect((await a.agent("diff", "-f", fileOf("here", one))).error).toBeNull();
  expect((await a.agent("up", "-f", fileOf("here", one))).error).toBeNull();
  await until(() => cluster.starts("one") === 2);
  expect((await a.agent("tree")).stdout).toContain('"one"');
  expect(cluster.overlaps).toEqual([]);
});

it("two `agent up` of one file at once, on two nodes, are both done", async () => {
  const { cluster, machines } = await machinesOf("ends_twice", ["a", "b"]);
  const far = { argv: ["sleep", "1000"], restart: "transient", placement: { where: { node: "b" } } };
  const names = ["p", "q", "r", "s", "t", "u"];
  const file = fileOf("both", ...names.map((name) => ({ ...far, name })));
  for (let round = 1; round <= 3; round += 1) {
    const both = await Promise.all(machines.map(({ agent }) => agent("up", "-f", file)));
    expect(both.map(({ error }) => error)).toEqual([null, null]);
    for (const { agent } of machines) await agent("down", "both");
  }
  expect(await cluster.listed(machines[1], "p")).toBeUndefined();
});

it("two `agent up` of one file with different specs are told of each other, and the next one decides", async () => {
  const { machines } = await machinesOf("ends_other", ["a", "b"]);
  const far = { argv: ["sleep", "1000"], restart: "transient", placement: { where: { node: "b" } } };
  const names = ["p", "q", "r", "s", "t", "u"];
  const file = fileOf("others", ...names.map((name) => ({ ...far, name, env: { WHICH: "${WHICH}" } })));
  const up = ({ agent }: ClusterMachine, which: string) => agent("up", "-f", file, "--var", `WHICH=${which}`);
  const both = await Promise.all(machines.map((machine) => up(machine, machine.name)));
  // On a busy machine a worker of the one may still stop when the other one has waited for its name.
  const told: Readonly<Record<string, object>> = {
    INVALID_STATE: { cause: "placed_meanwhile" },
    TIMEOUT: { path: expect.stringMatching(/^[p-u]$/) },
  };
  for (const { error, meta } of both.filter(({ exit }) => exit !== 0)) {
    expect(Object.keys(told)).toContain(error?.code);
    expect(meta.details).toMatchObject(told[error!.code]!);
  }
  expect((await up(machines[0], "last")).error).toBeNull();
  const { spec } = (await machines[1].agent("info", "u")).data as { spec: { env: object } };
  expect(spec.env).toMatchObject({ WHICH: "last" });
});

it("a node that is cut off keeps the worker that goes on there, and its own files ask a silent database briefly", async () => {
  const way = await CuttableWay.make(postgres.port);
  made.push(way);
  const { cluster, machines } = await machinesOf("ends_cut", ["a", "b"], way.port);
  const [a, b] = machines;
  const far = { name: "far", argv: cluster.song("far"), restart: "transient" };
  const onB = { ...far, placement: { where: { node: "b" }, on_partition: "continue" } };
  expect((await a.agent("up", "-f", fileOf("cut", onB))).exit).toBe(0);
  await until(() => cluster.sings("far"));
  way.cut();

  const asked = performance.now();
  const up = await b.agent("up", "-f", fileOf("own", NEAR));
  expect(performance.now() - asked).toBeLessThan(CLUSTER_STATEMENT_MAX_MS);
  expect(up).toMatchObject({ exit: 0, data: { effect: "created" } });
  expect(up.warnings.join()).toContain("were not looked at");
  expect(await b.agent("down", "own")).toMatchObject({ error: { code: "UNAVAILABLE" } });
  expect(await cluster.listed(b, "near")).toBeUndefined();

  for (const argv of [
    ["up", "-f", fileOf("cut", far)],
    ["down", "cut"],
  ]) {
    const { error } = await a.agent(...argv);
    expect(error).toMatchObject({
      code: "TIMEOUT",
      message: "The worker far of cut still stops on the node b.",
    });
    expect(error?.suggestion).toContain("agent cluster leave --gone b");
  }
  expect([cluster.sings("far"), cluster.starts("far"), cluster.overlaps]).toEqual([true, 1, []]);
});
