/** All nodes of a cluster are upgraded, one after the other: to the build that they have, to a newer one with tables that it has added to, and back. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, expect, it } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { CLUSTER_LEASE_MS } from "../../../src/base/limits.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/cluster/postgres/schema.ts";
import { until } from "../../cli/support/commands.ts";
import { AGENT } from "../../support/built.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { NEXT, nextVersion } from "../../support/versions.ts";
import { type ClusterMachine, ClusterOfMachines } from "./support/machines.ts";

const TRIES_MAX = 10;

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

/** Returns whether it was so quick that no agent can have been ended for a lease that was not renewed meanwhile. */
const upgrade = async (
  cluster: ClusterOfMachines,
  machine: ClusterMachine,
  program: string,
): Promise<boolean> => {
  const env = { PATH: process.env.PATH, HOLDFAST_HOME: machine.home };
  const words = [program, "daemon", "upgrade", "--force", "-o", "json"];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env });
  const answered = performance.now();
  const { gap_ms } = (JSON.parse(stdout) as { data: { gap_ms: number } }).data;
  await until(() => cluster.holdsLease(machine));
  return gap_ms + performance.now() - answered < CLUSTER_LEASE_MS / 4;
};

it("no agent has another PID after the upgrade of any node: to the same build, to a newer one, and back", async () => {
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
  let late = 0;
  // A machine that is too busy to upgrade within a lease ends agents, as it must: then the next try says.
  const upgraded = async (machine: ClusterMachine, program: string, version: string): Promise<void> => {
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const agents = await cluster.agents(birds);
      const isInTime = await upgrade(cluster, machine, program);
      expect((await machine.agent("daemon", "status")).data.version).toBe(version);
      expect(cluster.overlaps).toEqual([]);
      if (isInTime) {
        expect(await cluster.agents(birds)).toEqual(agents);
        return;
      }
      late += 1;
    }
    throw new Error(`${machine.name} was never upgraded within its lease, in ${TRIES_MAX} tries.`);
  };

  for (const machine of cluster.machines) await upgraded(machine, AGENT, packageJson.version);
  await addToTables(url);
  const next = nextVersion();
  for (const machine of cluster.machines) await upgraded(machine, next, NEXT);
  for (const machine of cluster.machines) await upgraded(machine, AGENT, packageJson.version);
  if (late === 0) expect(birds.map((name) => cluster.starts(name))).toEqual([1, 1, 1, 1]);
});
