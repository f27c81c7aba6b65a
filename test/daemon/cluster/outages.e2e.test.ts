/**
 * The database of a cluster is restarted, is away, or is lost, and another server takes its place after a while: real daemons and
 * servers of Postgres. HOLDFAST_OUTAGE_S says how long no server is there: ten minutes in the nightly run, else longer than a lease.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { CLUSTER_LEASE_MS } from "../../../src/base/limits.ts";
import { until } from "../../cli/support/commands.ts";
import { figure, full } from "../../support/figures.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { type ClusterMachine, ClusterOfMachines } from "./support/machines.ts";
import { beatsIn, copiesIn } from "./support/tables.ts";
import { CuttableWay } from "./support/way.ts";

const OUTAGE_S = Number(process.env.HOLDFAST_OUTAGE_S ?? (full ? 600 : 12));
const TIME_MAX_MS = 240_000 + OUTAGE_S * 1_000;
/** Postgres is to be back within a lease in one of them. */
const TRIES_MAX = 10;
const STOPS = ["robin", "wren"];
const CONTINUES = ["finch", "owl"];
/** It prints a line all the time. */
const TELLER = "tells";
const LINES = "n=0; while :; do n=$((n+1)); echo line $n; sleep 0.05; done";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Two nodes, and workers of either policy, of which one tells lines. */
const clusterWith = async (urlOf: () => string): Promise<ClusterOfMachines> => {
  const cluster = await ClusterOfMachines.start(urlOf, ["a", "b"]);
  closing.push(() => cluster.close());
  const [a, b] = cluster.machines as [ClusterMachine, ClusterMachine];
  for (const name of STOPS) await a.agent(...cluster.canary(name, "--on-partition", "stop"));
  for (const name of CONTINUES) await b.agent(...cluster.canary(name, "--on-partition", "continue"));
  const told = ["spawn", "--name", TELLER, "--on-partition", "continue", "--restart", "transient"];
  await b.agent(...told, "--", "sh", "-c", LINES);
  await until(() => [...STOPS, ...CONTINUES].every((name) => cluster.starts(name) === 1));
  return cluster;
};

const copied = async (machine: ClusterMachine) =>
  (
    (await machine.agent("cluster", "status")).data.self as {
      copy: { copied_to: number; behind: number | null };
    }
  ).copy;

/** The number of records that each log had in the copy, once the teller's are there too. */
const copiedBefore = async (cluster: ClusterOfMachines): Promise<readonly number[]> => {
  const all = () => Promise.all(cluster.machines.map(async (each) => (await copied(each)).copied_to));
  await until(async () => Math.max(...(await all())) > 100);
  return all();
};

/** Both copies have all that the logs have, and so more than before. */
const expectWhole = async (
  cluster: ClusterOfMachines,
  url: string,
  before: readonly number[],
): Promise<void> => {
  await cluster.machines[0]!.agent("kill", TELLER);
  await until(async () =>
    (await Promise.all(cluster.machines.map(copied))).every(({ behind }) => behind === 0),
  );
  const copies = await copiesIn(url);
  expect(copies.length).toBe(cluster.machines.length);
  for (const { copied_to, records } of copies) expect(records).toBe(copied_to);
  const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);
  expect(sum(copies.map(({ records }) => records))).toBeGreaterThan(sum(before));
};

/** One daemon is upgraded, and one is killed and starts again. */
const daemonsAnew = async ({ machines }: ClusterOfMachines): Promise<void> => {
  const [a, b] = machines as [ClusterMachine, ClusterMachine];
  expect((await a.agent("daemon", "upgrade", "--force")).data).toMatchObject({ effect: "updated" });
  await b.killDaemon();
  expect((await b.agent("daemon", "start")).error).toBeNull();
};

const continuing = async (cluster: ClusterOfMachines) =>
  (await cluster.agents([...CONTINUES, TELLER])).filter(({ name }) => !STOPS.includes(name));

interface Outage {
  readonly lose: () => Promise<void>;
  readonly meanwhile?: (cluster: ClusterOfMachines) => Promise<void>;
  /** Returns the address of the database. */
  readonly bring: () => Promise<string>;
}

/**
 * The database is away from `lose` to `bring`: those that stop end within their lease and begin again after it, the others keep their
 * processes, and the copies have all of it.
 */
const endure = async (cluster: ClusterOfMachines, { lose, meanwhile, bring }: Outage): Promise<number> => {
  const [before, agents] = [await copiedBefore(cluster), await continuing(cluster)];
  await lose();
  const lost = performance.now();
  await until(() => !STOPS.some((name) => cluster.sings(name)));
  const ended_ms = performance.now() - lost;
  expect(ended_ms).toBeLessThan(CLUSTER_LEASE_MS);
  await meanwhile?.(cluster);
  await sleep(Math.max(0, lost + OUTAGE_S * 1_000 - performance.now()));
  expect(await cluster.agents([])).toEqual(agents);
  expect(STOPS.map((name) => cluster.starts(name))).toEqual([1, 1]);
  const url = await bring();
  await until(() => STOPS.every((name) => cluster.starts(name) === 2));
  expect(await continuing(cluster)).toEqual(agents);
  expect([CONTINUES.map((name) => cluster.starts(name)), cluster.overlaps]).toEqual([[1, 1], []]);
  await expectWhole(cluster, url, before);
  return Math.round(ended_ms);
};

it("a restart of Postgres stops no agent", async () => {
  const postgres = await TestPostgres.start();
  closing.push(() => postgres.remove());
  const url = await postgres.database("restarted");
  const cluster = await clusterWith(() => url);
  const before = await copiedBefore(cluster);
  const all = [...STOPS, ...CONTINUES, TELLER];
  const restarted = async (): Promise<boolean> => {
    const beats = await beatsIn(url);
    const since = performance.now();
    await postgres.stop();
    await postgres.start();
    await until(async () => Object.entries(await beatsIn(url)).every(([id, beat]) => beat > beats[id]!));
    return performance.now() - since < CLUSTER_LEASE_MS / 4;
  };
  // A machine that is too busy for it ends agents, as it must: then the next try says.
  for (let tries = 1; ; tries++) {
    const agents = await cluster.agents(all);
    if (await restarted()) {
      expect(await cluster.agents(all)).toEqual(agents);
      break;
    }
    if (tries === TRIES_MAX) throw new Error(`Postgres was never back within a lease, in ${tries} tries.`);
  }
  expect(cluster.overlaps).toEqual([]);
  await expectWhole(cluster, url, before);
});

it(`Postgres is away for ${OUTAGE_S} s: some agents stop within their lease, others go on over new daemons, and nothing is lost`, {
  timeout: TIME_MAX_MS,
}, async () => {
  const postgres = await TestPostgres.start();
  closing.push(() => postgres.remove());
  const url = await postgres.database("outage");
  const p50_ms = await endure(await clusterWith(() => url), {
    lose: () => postgres.stop(),
    meanwhile: daemonsAnew,
    bring: async () => {
      await postgres.start();
      return url;
    },
  });
  const note = `Postgres away for ${OUTAGE_S} s; the time until the last agent that stops had ended`;
  figure("R44", { rounds: 1, failures: 0, p50_ms, note });
});

it(`another server takes over after ${OUTAGE_S} s: some agents stop, others go on, and no copied record is missing`, {
  timeout: TIME_MAX_MS,
}, async () => {
  const primary = await TestPostgres.start();
  closing.push(() => primary.remove());
  const standby = await primary.standby();
  closing.push(() => standby.remove());
  const url = await primary.database("failover");
  const way = await CuttableWay.make(primary.port);
  closing.push(() => way.close());
  const cluster = await clusterWith(() => url.replace(`:${primary.port}/`, `:${way.port}/`));
  const p50_ms = await endure(cluster, {
    lose: () => primary.stop(),
    bring: async () => {
      await standby.promote();
      way.turnTo(standby.port);
      return url.replace(`:${primary.port}/`, `:${standby.port}/`);
    },
  });
  const note = `another Postgres after ${OUTAGE_S} s without one; the time until the last agent that stops had ended`;
  figure("R44", { rounds: 1, failures: 0, p50_ms, note });
});
