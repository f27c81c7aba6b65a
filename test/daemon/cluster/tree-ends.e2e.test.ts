/** Files of a daemon that is no node any more, and workers of a file that end late on their nodes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { type ClusterMachine, ClusterOfMachines } from "./support/machines.ts";

let postgres: TestPostgres;
let dir: string;
const made: { close(): Promise<void> }[] = [];
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

const machinesOf = async (name: string, names: readonly string[]) => {
  const url = await postgres.database(name);
  const cluster = await ClusterOfMachines.start(() => url, names);
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
  expect((await a.agent("tree")).stdout).not.toContain("near");
});
