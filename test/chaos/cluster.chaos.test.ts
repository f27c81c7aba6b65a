/**
 * Faults from one seed against three real daemons of a cluster, with guards and agents, on a real Postgres, each with a network of its
 * own where one can be made. No worker ever runs twice, each runs again, and the copies of all logs are dense. HOLDFAST_FAULTS says
 * how many (a thousand in the nightly run); HOLDFAST_SHARE is `2/4` for each fourth of them from the second on: four clusters then share the faults of one seed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../cli/support/commands.ts";
import { type ClusterMachine, ClusterOfMachines } from "../daemon/cluster/support/machines.ts";
import { CUTS, type Cut, Networks } from "../daemon/cluster/support/networks.ts";
import type { OwnDaemon } from "../daemon/cluster/support/own-daemon.ts";
import { copiesIn, rowsIn } from "../daemon/cluster/support/tables.ts";
import { CuttableWay } from "../daemon/cluster/support/way.ts";
import { randomOf } from "../sim/random.ts";
import { figure, full } from "../support/figures.ts";
import { TestPostgres } from "../support/postgres.ts";

const FAULTS = Number(process.env.HOLDFAST_FAULTS ?? (full ? 1_000 : 3));
const SEED = Number(process.env.HOLDFAST_SEED ?? 21);
const [SHARE, SHARES] = (process.env.HOLDFAST_SHARE ?? "1/1").split("/").map(Number) as [number, number];
const FAULT_MAX_MS = 12_000;
/** Until its end, and until all workers sing again. */
const FAULT_TIME_MAX_MS = 120_000;
const NODES = ["a", "b", "c"];
/** The clocks of the machines are an hour apart. */
const CLOCKS_MS: Readonly<Record<string, number>> = { a: 3_600_000, b: 0, c: -3_600_000 };
const STOPS = ["robin", "wren", "finch", "lark"];
const GOES_ON = "owl";
/** The cluster asks for it on machines that are at rest. */
const ELSEWHERE_MS = 10_000;
const LOOK_MS = 50;

let postgres: TestPostgres;
let cluster: ClusterOfMachines;
/** Without networks of their own the machines have ways to Postgres, which are cut both ways alone. */
let networks: Networks | undefined;
const ways = new Map<string, CuttableWay>();
let url: string;

beforeAll(async () => {
  networks = Networks.canBeMade ? await Networks.make(NODES) : undefined;
  postgres = await TestPostgres.start(networks?.address);
  url = await postgres.database("chaos");
  if (networks === undefined) for (const name of NODES) ways.set(name, await CuttableWay.make(postgres.port));
  cluster = await ClusterOfMachines.start(urlOf, NODES, () => [], Object.fromEntries(NODES.map(daemonOf)));
});
afterAll(async () => {
  await cluster?.close();
  for (const way of ways.values()) way.close();
  await postgres?.remove();
  networks?.close();
});

const urlOf = (name: string): string =>
  networks === undefined
    ? url.replace(`:${postgres.port}/`, `:${ways.get(name)!.port}/`)
    : `${url.replace("localhost", networks.address)}?sslmode=disable`;
const daemonOf = (name: string): [string, OwnDaemon] => [
  name,
  { shift_ms: CLOCKS_MS[name]!, enter: networks?.enter(name) ?? [] },
];

const cutFor =
  (cut: Cut) =>
  async ({ name }: ClusterMachine, ms: number): Promise<void> => {
    if (networks === undefined) ways.get(name)!.cut();
    else networks.cut(name, cut);
    await sleep(ms);
    if (networks === undefined) ways.get(name)!.mend();
    else networks.mend(name, cut);
  };

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
  ...Object.fromEntries(CUTS.map((cut) => [`cut ${cut}`, cutFor(cut)])),
  database: async (_, ms) => {
    await postgres.stop();
    await sleep(ms);
    await postgres.start();
  },
};

/** For the message of a failure. */
const placements = (): Promise<readonly object[]> =>
  rowsIn(url, "select worker, desired, node, node_term, term, starts, why from placement");

/** The nodes of all workers, by the names of the workers. */
const places = async (): Promise<ReadonlyMap<string, string | null>> => {
  const rows = await rowsIn<{ worker: string; node: string | null }>(
    url,
    "select worker, node from placement",
  );
  return new Map(rows.map(({ worker, node }) => [worker, node]));
};

/** Notes for each worker that starts from now on how long that took; the first start counts. */
const followStarts = () => {
  const began = performance.now();
  const before = new Map(STOPS.map((name) => [name, cluster.starts(name)]));
  const took = new Map<string, number>();
  const look = (): void => {
    for (const name of STOPS)
      if (!took.has(name) && cluster.starts(name) > before.get(name)!)
        took.set(name, performance.now() - began);
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    end: (): ReadonlyMap<string, number> => {
      clearInterval(timer);
      look();
      return took;
    },
  };
};

/** The times from the beginning of a fault of a node until its workers that stop started on another one. */
const moved: number[] = [];

const tell = (): void => {
  moved.sort((one, other) => one - other);
  const at = (part: number): number | undefined =>
    moved.length === 0
      ? undefined
      : Math.round(moved[Math.min(moved.length - 1, Math.floor(moved.length * part))]!);
  const within = moved.filter((ms) => ms <= ELSEWHERE_MS).length;
  const note = `faults of seed ${SEED} in a cluster of ${NODES.length} nodes: no overlap, and the copies are dense; ${within} of ${moved.length} moves began elsewhere within ${ELSEWHERE_MS / 1_000} s of the fault`;
  figure("R44", { rounds: faults.length, failures: 0, p50_ms: at(0.5), p99_ms: at(0.99), note });
};

const random = randomOf(SEED);
const faults = Array.from({ length: FAULTS }, (_, at) => ({
  at,
  name: random.pick(NODES),
  kind: random.pick(Object.keys(FAULT_KINDS)),
  ms: random.below(FAULT_MAX_MS),
})).filter(({ at }) => at % SHARES === SHARE - 1);

it(`${faults.length} faults of seed ${SEED}: no worker runs twice, and each runs again`, {
  timeout: (faults.length + 2) * FAULT_TIME_MAX_MS,
}, async () => {
  const [first] = cluster.machines;
  for (const name of STOPS)
    await first!.agent(...cluster.canary(name, "--on-partition", "stop", "--max-restarts", "100/60s"));
  await first!.agent(...cluster.canary(GOES_ON, "--on-partition", "continue", "--max-restarts", "100/60s"));
  const birds = [...STOPS, GOES_ON];
  await until(() => birds.every((name) => cluster.sings(name)));
  let before = await places();
  for (const { at, name, kind, ms } of faults) {
    const machine = cluster.machines.find((each) => each.name === name)!;
    const told = `fault ${at}: ${kind} of ${name} for ${ms} ms`;
    const followed = followStarts();
    await FAULT_KINDS[kind]!(machine, ms);
    await until(() => birds.every((bird) => cluster.sings(bird))).catch(async () => {
      throw new Error(`${told}: ${JSON.stringify(await placements())}`);
    });
    expect(cluster.overlaps, told).toEqual([]);
    const [took, after] = [followed.end(), await places()];
    if (kind !== "database")
      for (const [bird, ms] of took)
        if (before.get(bird) === name && after.get(bird) !== name) moved.push(ms);
    before = after;
  }
  await until(async () =>
    (await Promise.all(cluster.machines.map((each) => cluster.isCopied(each)))).every(Boolean),
  );
  const copies = await copiesIn(url);
  expect(copies.length).toBe(NODES.length);
  for (const { copied_to, records } of copies) expect(records).toBe(copied_to);
  tell();
});
