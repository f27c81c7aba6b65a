/**
 * Faults from one seed against three real daemons of a cluster, with guards and agents, on a real Postgres. No worker ever runs twice,
 * each runs again, and the copies of all logs are dense. HOLDFAST_FAULTS says how many.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../cli/support/commands.ts";
import { type ClusterMachine, ClusterOfMachines } from "../daemon/cluster/support/machines.ts";
import { copiesIn, rowsIn } from "../daemon/cluster/support/tables.ts";
import { CuttableWay } from "../daemon/cluster/support/way.ts";
import { randomOf } from "../sim/random.ts";
import { TestPostgres } from "../support/postgres.ts";

const FAULTS = Number(process.env.HOLDFAST_FAULTS ?? 3);
const SEED = Number(process.env.HOLDFAST_SEED ?? 21);
const FAULT_MAX_MS = 12_000;
/** A fault takes that long, and the workers as long again to be elsewhere. */
const TIME_MAX_MS = (FAULTS + 2) * 120_000;
const NODES = ["a", "b", "c"];
/** The clocks of the machines are an hour apart. */
const CLOCKS_MS = { a: 3_600_000, b: 0, c: -3_600_000 };
const STOPS = ["robin", "wren", "finch", "lark"];
const GOES_ON = "owl";

let postgres: TestPostgres;
let cluster: ClusterOfMachines;
const ways = new Map<string, CuttableWay>();
let url: string;

beforeAll(async () => {
  postgres = await TestPostgres.start();
  url = await postgres.database("chaos");
  for (const name of NODES) ways.set(name, await CuttableWay.make(postgres.port));
  const urlOf = (name: string): string => url.replace(`:${postgres.port}/`, `:${ways.get(name)!.port}/`);
  cluster = await ClusterOfMachines.start(urlOf, NODES, () => [], CLOCKS_MS);
});
afterAll(async () => {
  await cluster?.close();
  for (const way of ways.values()) way.close();
  await postgres?.remove();
});

/** Each begins one, and ends it after the time. */
const FAULT_KINDS: Readonly<Record<string, (machine: ClusterMachine, ms: number) => Promise<void>>> = {
  power: async (machine, ms) => {
    cluster.powerOff(machine);
    await sleep(ms);
    await machine.agent("daemon", "start");
  },
  killed: async (machine, ms) => {
    await machine.killDaemon();
    await sleep(ms);
    await machine.agent("daemon", "start");
  },
  frozen: async (machine, ms) => {
    const pid = await machine.daemonPid();
    process.kill(pid, "SIGSTOP");
    await sleep(ms);
    process.kill(pid, "SIGCONT");
  },
  cut: async ({ name }, ms) => {
    ways.get(name)!.cut();
    await sleep(ms);
    ways.get(name)!.mend();
  },
  database: async (_, ms) => {
    await postgres.stop();
    await sleep(ms);
    await postgres.start();
  },
};

/** For the message of a failure. */
const placements = (): Promise<readonly object[]> =>
  rowsIn(url, "select worker, desired, node, node_term, term, starts, why from placement");

it(`${FAULTS} faults of seed ${SEED}: no worker runs twice, and each runs again`, {
  timeout: TIME_MAX_MS,
}, async () => {
  const random = randomOf(SEED);
  const [first] = cluster.machines;
  for (const name of STOPS)
    await first!.agent(...cluster.canary(name, "--on-partition", "stop", "--max-restarts", "100/60s"));
  await first!.agent(...cluster.canary(GOES_ON, "--on-partition", "continue", "--max-restarts", "100/60s"));
  const birds = [...STOPS, GOES_ON];
  await until(() => birds.every((name) => cluster.sings(name)));
  const kinds = Object.keys(FAULT_KINDS);
  for (let at = 0; at < FAULTS; at += 1) {
    const machine = cluster.machines[random.below(NODES.length)]!;
    const kind = kinds[random.below(kinds.length)]!;
    const ms = random.below(FAULT_MAX_MS);
    const told = `fault ${at}: ${kind} of ${machine.name} for ${ms} ms`;
    await FAULT_KINDS[kind]!(machine, ms);
    await until(() => birds.every((name) => cluster.sings(name))).catch(async () => {
      throw new Error(`${told}: ${JSON.stringify(await placements())}`);
    });
    expect(cluster.overlaps, told).toEqual([]);
  }
  await until(async () =>
    (await Promise.all(cluster.machines.map((each) => cluster.isCopied(each)))).every(Boolean),
  );
  for (const { copied_to, records } of await copiesIn(url)) expect(records).toBe(copied_to);
});
