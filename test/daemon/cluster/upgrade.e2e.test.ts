/** All nodes of a cluster are brought to a newer Holdfast, one after the other, with tables that it has added to. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { MIGRATIONS, SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { NEXT, nextVersion } from "../../support/versions.ts";
import { ClusterOfMachines } from "./support/machines.ts";

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** As `agent cluster init` of a Holdfast with one migration more. */
const addToTables = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  await client.query("alter table node add column colour text");
  const versions = [MIGRATIONS.length + 1, MIGRATIONS.length];
  await client.query("insert into migration values ($1, clock_timestamp(), $2)", versions);
  await client.end();
};

it("no worker is moved, stopped or started by it", async () => {
  const postgres = await TestPostgres.start();
  closing.push(() => postgres.remove());
  const url = await postgres.database("upgraded");
  const cluster = await ClusterOfMachines.start(() => url, ["a", "b"]);
  closing.push(() => cluster.close());
  const birds = ["robin", "wren", "finch", "owl"];
  for (const [at, name] of birds.entries()) {
    const policy = name === "owl" ? "continue" : "stop";
    const node = `node=${at % 2 === 0 ? "a" : "b"}`;
    await cluster.machines[0]!.agent(...cluster.canary(name, "--where", node, "--on-partition", policy));
  }
  const pids = async () =>
    Promise.all(birds.map(async (name) => cluster.pidOn(await cluster.placed(name), name)));
  const before = await pids();

  await addToTables(url);
  const next = nextVersion();
  for (const machine of cluster.machines) {
    const env = { PATH: process.env.PATH, HOLDFAST_HOME: machine.home };
    await promisify(execFile)(process.execPath, [next, "daemon", "upgrade"], { env });
    expect((await machine.agent("daemon", "status")).data.version).toBe(NEXT);
    await until(() => cluster.holdsLease(machine));
  }
  expect(await pids()).toEqual(before);
  expect([birds.map((name) => cluster.starts(name)), cluster.overlaps]).toEqual([[1, 1, 1, 1], []]);
});
