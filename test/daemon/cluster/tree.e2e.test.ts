/** Files with `placement:` on a cluster of real daemons: up, up again, another spec, a kill, a lost machine, and down. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeCommands, until } from "../../cli/support/commands.ts";
import { useClusters } from "./support/clusters.ts";
import type { ClusterOfMachines } from "./support/machines.ts";

type Machines = readonly [
  ClusterOfMachines["machines"][0],
  ClusterOfMachines["machines"][0],
  ClusterOfMachines["machines"][0],
];

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-placed-tree-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const { postgres, clusterOf } = useClusters();

/** A file of children, each as a map. JSON is YAML. */
const fileOf = (file: string, tree: string, children: readonly object[]): string => {
  const path = join(dir, file);
  writeFileSync(path, JSON.stringify({ version: 1, name: tree, tree: { children } }));
  return path;
};

const actions = ({ data }: { readonly data: Record<string, unknown> }): Record<string, string> =>
  Object.fromEntries(
    (data.changes as { path: string; action: string }[]).map(({ path, action }) => [path, action]),
  );

it("a file has a worker on another node and one here: it is brought up once, moves, and goes down", async () => {
  const cluster = await clusterOf("tree_moves", ["a", "b", "c"]);
  const [a, b, c] = cluster.machines as unknown as Machines;
  for (const machine of [b, c]) {
    await machine.agent("cluster", "leave");
    await cluster.join(machine, "--label", "zone=far");
  }
  const song = (name: string) => ({ name, restart: "transient", argv: cluster.song(name), cwd: dir });
  const far = { ...song("far"), placement: { where: { zone: "far" } } };
  const file = fileOf("moves.yaml", "moves", [far, song("near")]);

  const planned = await a.agent("diff", "-f", file);
  expect(actions(planned)).toEqual({ moves: "create", near: "create", far: "create" });
  expect([cluster.starts("far"), cluster.starts("near")]).toEqual([0, 0]);

  const up = await a.agent("up", "-f", file);
  expect(up).toMatchObject({ exit: 0, data: { tree: "moves", effect: "created", state: "running" } });
  expect(actions(up)).toEqual({ moves: "create", near: "create", far: "create" });
  await until(() => cluster.sings("far") && cluster.sings("near"));
  const lost = await cluster.placed("far");
  expect([b, c]).toContain(lost);
  expect(await cluster.where("near")).toBe(a);

  const again = await a.agent("up", "-f", file);
  expect(again).toMatchObject({ exit: 0, data: { effect: "noop" } });
  expect(actions(again)).toEqual({ moves: "unchanged", near: "unchanged", far: "unchanged" });
  expect([cluster.starts("far"), cluster.starts("near")]).toEqual([1, 1]);

  cluster.powerOff(lost);
  await until(() => cluster.starts("far") === 2);
  await until(async () => (await cluster.where("far")) === (lost === b ? c : b));
  expect((await a.agent("up", "-f", file)).data.effect).toBe("noop");

  const down = await a.agent("down", "-f", file);
  expect(down).toMatchObject({ exit: 0, data: { effect: "deleted", state: "terminated" } });
  expect(actions(down)).toEqual({ near: "remove", far: "remove" });
  await until(() => !cluster.sings("far") && !cluster.sings("near"));
  expect((await a.agent("down", "-f", file)).error?.code).toBe("WORKER_NOT_FOUND");
  expect([cluster.starts("far"), cluster.starts("near"), cluster.overlaps]).toEqual([2, 1, []]);
});

it("another spec, a worker that goes, comes or moves here, and one that a person killed", async () => {
  const cluster = await clusterOf("tree_changes", ["a", "b"]);
  const [a, b] = cluster.machines as unknown as Machines;
  const on = (node: string, name: string, more: object = {}) => ({
    name,
    restart: "transient",
    argv: cluster.song(name),
    cwd: dir,
    ...more,
    ...(node === "" ? {} : { placement: { where: { node } } }),
  });
  const up = (...children: object[]) => a.agent("up", "-f", fileOf("changes.yaml", "changes", children));
  expect((await up(on("b", "one"), on("b", "two"))).exit).toBe(0);

  expect(actions(await up(on("b", "one", { env: { A: "2" } }), on("b", "two")))).toEqual({
    changes: "unchanged",
    one: "restart",
    two: "unchanged",
  });
  await until(() => cluster.starts("one") === 2);
  expect(actions(await up(on("b", "one", { env: { A: "2" } }), on("a", "three")))).toEqual({
    changes: "unchanged",
    one: "unchanged",
    three: "create",
    two: "remove",
  });
  expect(await cluster.listed(b, "two")).toBeUndefined();
  expect(await cluster.placed("three")).toBe(a);

  // From the cluster to this machine, and back.
  expect(actions(await up(on("", "one"), on("a", "three")))).toMatchObject({ three: "unchanged" });
  await until(() => cluster.starts("one") === 3);
  expect(await cluster.where("one")).toBe(a);
  expect((await up(on("b", "one"), on("a", "three"))).exit).toBe(0);
  expect(await cluster.placed("one")).toBe(b);
  await until(() => cluster.starts("one") === 4);

  expect((await a.agent("kill", "one")).exit).toBe(0);
  const kept = await up(on("b", "one"), on("a", "three"));
  expect(kept).toMatchObject({ exit: 0, data: { effect: "noop" } });
  expect(actions(kept)).toEqual({ changes: "unchanged", one: "kept_dead", three: "unchanged" });

  expect((await a.agent("down", "changes")).exit).toBe(0);
  expect((await up(on("b", "one"))).exit).toBe(0);
  await until(() => cluster.starts("one") === 5);

  // One that a person killed here, and that the cluster is to run.
  expect((await up(on("b", "one"), on("", "four"))).exit).toBe(0);
  await until(() => cluster.sings("four"));
  expect((await a.agent("kill", "four")).exit).toBe(0);
  expect((await up(on("b", "one"), on("b", "four"))).exit).toBe(0);
  expect(await cluster.placed("four")).toBe(b);
  await until(() => cluster.starts("four") === 2);
  expect(cluster.overlaps).toEqual([]);
});

it("one file on two nodes has each placed worker once, and either takes it down, also when the other is gone", async () => {
  const cluster = await clusterOf("tree_twice", ["a", "b"]);
  const [a, b] = cluster.machines as unknown as Machines;
  const children = [
    { name: "far", restart: "transient", argv: cluster.song("far"), placement: { where: { node: "b" } } },
  ];
  const file = fileOf("twice.yaml", "twice", children);
  expect(actions(await a.agent("up", "-f", file))).toEqual({ twice: "create", far: "create" });
  expect(actions(await b.agent("up", "-f", file))).toEqual({ twice: "create", far: "unchanged" });
  expect((await b.agent("down", "twice")).exit).toBe(0);
  expect(cluster.sings("far")).toBe(false);
  expect(actions(await a.agent("up", "-f", file))).toEqual({ twice: "unchanged", far: "create" });
  await until(() => cluster.starts("far") === 2);

  // Another file has the tree's name, and another one a worker's.
  const other = fileOf("other.yaml", "twice", children);
  const refused = await b.agent("up", "-f", other);
  expect(refused).toMatchObject({ exit: 6, error: { code: "ALREADY_EXISTS" } });
  expect(refused.error?.message).toContain(file);
  const third = await b.agent("up", "-f", fileOf("third.yaml", "third", children));
  expect(third).toMatchObject({ exit: 6, error: { code: "ALREADY_EXISTS" } });
  expect((await b.agent("tree")).stdout).not.toContain("third");
  // A file that places nothing has nothing to do with them.
  const plain = fileOf("other.yaml", "twice", []);
  expect(actions(await b.agent("up", "-f", plain))).toEqual({ twice: "create" });
  expect(actions(await b.agent("down", "-f", plain))).toEqual({});
  expect(cluster.sings("far")).toBe(true);

  cluster.powerOff(a);
  expect(actions(await b.agent("down", "twice"))).toEqual({ far: "remove" });
  await until(() => !cluster.sings("far"));
  expect([cluster.starts("far"), cluster.overlaps]).toEqual([2, []]);
});

it("a placed worker waits for a node, is refused by one, and by a daemon that is none", async () => {
  const cluster = await clusterOf("tree_refused", ["a"]);
  const [a] = cluster.machines as unknown as Machines;
  const placed = (more: object) => ({ name: "far", argv: ["sleep", "1000"], restart: "transient", ...more });
  const nowhere = placed({ placement: { where: { gpu: "1" } } });
  const waits = await a.agent("up", "-f", fileOf("waits.yaml", "waits", [nowhere]));
  expect(waits).toMatchObject({ exit: 0, data: { waiting: [{ name: "far", why: "nowhere" }] } });
  expect(waits.warnings.join()).toContain("no node has its labels");
  const again = await a.agent("up", "-f", join(dir, "waits.yaml"));
  expect(again).toMatchObject({ data: { effect: "noop", waiting: [{ name: "far", why: "nowhere" }] } });
  expect((await a.agent("down", "waits")).exit).toBe(0);

  const broken = placed({ cwd: "/no/such/place", placement: {} });
  const failed = await a.agent("up", "-f", fileOf("broken.yaml", "broken", [broken]));
  expect(failed.error).toMatchObject({ code: "WORKER_FAILED" });
  expect(failed.error?.message).toContain("the node a did not start far");
  expect((await a.agent("down", "broken")).exit).toBe(0);

  const all = join(dir, "all.yaml");
  writeFileSync(
    all,
    "version: 1\ntree: { strategy: one_for_all, children: [{ name: far, argv: [x], placement: {} }] }\n",
  );
  expect(await a.agent("diff", "-f", all)).toMatchObject({ exit: 3, error: { code: "INVALID_REQUEST" } });

  const alone = makeCommands();
  try {
    const near = placed({ name: "near" });
    const file = fileOf("alone.yaml", "alone", [near, placed({ placement: {} })]);
    for (const command of ["diff", "up"]) {
      const told = await alone.agent(command, "-f", file);
      expect(told).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
      expect(told.error?.suggestion).toContain("agent cluster join");
    }
    expect((await alone.agent("tree")).stdout).not.toContain("near");
  } finally {
    await alone.close();
  }
});

it("while Postgres is away a file without placed workers comes up, with a warning, and goes down with an error", async () => {
  const cluster = await clusterOf("tree_outage", ["a"]);
  const [a] = cluster.machines as unknown as Machines;
  const near = { name: "near", argv: ["sleep", "1000"], restart: "transient" };
  const file = fileOf("outage.yaml", "outage", [near]);
  await postgres().stop();
  const up = await a.agent("up", "-f", file);
  expect(up).toMatchObject({ exit: 0, data: { effect: "created" } });
  expect(up.warnings.join()).toContain("were not looked at");
  const placed = fileOf("far.yaml", "far", [{ ...near, name: "far", placement: {} }]);
  expect((await a.agent("up", "-f", placed)).error?.code).toBe("UNAVAILABLE");
  const down = await a.agent("down", "-f", file);
  expect(down.error).toMatchObject({ code: "UNAVAILABLE" });
  expect(down.error?.message).toContain("is stopped here");
  expect(await cluster.listed(a, "near")).toBeUndefined();
  await postgres().start();
});
