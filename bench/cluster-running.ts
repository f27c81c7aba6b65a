/**
 * Three nodes that run 10,000 placed workers, on one Postgres and one machine. Each worker is placed by a spawn of its own and sleeps.
 * The bench takes the time until all of them run, and the processor time of the daemons and of Postgres while nothing happens. It looks
 * how far the copy of each node keeps up while an agent prints there. Then one node is lost with its third of the workers, and the bench
 * takes the time until these run on the others.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { CLUSTER_CAPACITY_MAX, CLUSTER_LEASE_MS } from "../src/base/limits.ts";
import { TestPostgres } from "../test/support/postgres.ts";
import { type BenchNode, NODES, type Printed, print, writeLines } from "./cluster-nodes.ts";
import { cpuMs, parentOf, parentsOfAll } from "./inspect.ts";
import { childrenMs, command, type Result, removeDirectory, startDaemon } from "./support.ts";

const QUICK = process.env.HOLDFAST_QUICK === "1";
/** HOLDFAST_WORKERS=N: fewer, on a machine that others use. */
const WORKERS = Number(process.env.HOLDFAST_WORKERS ?? (QUICK ? 300 : 10_000));
const SIDE_BY_SIDE = 16;
const SETTLE_MS = QUICK ? 1_000 : 10_000;
const REST_MS = QUICK ? 3_000 : 30_000;
const LOOK_MS = 50;
/** The bench fails if workers do not run by then. */
const RUNNING_MAX_MS = 600_000;
const MOVE_ASKED_MS = 10_000;
const COPY_ASKED = 0.8;
/** A worker has its launcher and this, and no shell. */
const SLEEPER = ["sleep", "1000000"];

const joined = async (url: string): Promise<readonly BenchNode[]> => {
  const nodes = await Promise.all(
    NODES.map(async (name) => {
      const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
      return { name, dir, daemon: await startDaemon({}, [], dir) };
    }),
  );
  await nodes[0]!.daemon.request("cluster/init", { database: url });
  for (const { daemon, name } of nodes)
    await daemon.request("cluster/join", { database: url, name, capacity: CLUSTER_CAPACITY_MAX });
  return nodes;
};

const live = async ({ daemon }: BenchNode): Promise<number> =>
  (await daemon.request<{ workers: { live: number } }>("daemon/status", {})).workers.live;

const runningOn = async (nodes: readonly BenchNode[]): Promise<number> =>
  (await Promise.all(nodes.map(live))).reduce((sum, count) => sum + count, 0);

const untilRunning = async (
  nodes: readonly BenchNode[],
  count: number,
  look: (running: number) => void = () => undefined,
): Promise<void> => {
  const deadline = performance.now() + RUNNING_MAX_MS;
  for (let running = await runningOn(nodes); running < count; running = await runningOn(nodes)) {
    if (performance.now() > deadline) throw new Error(`${running} of ${count} workers run.`);
    look(running);
    await sleep(LOOK_MS);
  }
};

/** Any node may be asked, and any may run it. */
const runAll = async (nodes: readonly BenchNode[]): Promise<void> => {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < WORKERS) {
      const at = next++;
      const placement = { needs: {}, on_partition: "stop" };
      const over = { name: `w${at}`, placement, restart: "transient" };
      await nodes[at % nodes.length]!.daemon.request("agent/spawn", command(SLEEPER, over));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
  await untilRunning(nodes, WORKERS);
};

/** All processes of the server, itself first, by one of its own. */
const serverPids = async (client: pg.Client): Promise<readonly number[]> => {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const server = parentOf(rows[0]!.pid);
  return [server, ...[...parentsOfAll()].flatMap(([pid, above]) => (above === server ? [pid] : []))];
};

/** Connections that have ended since count in the first one, which waited for them. */
const cpuOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid, at) => {
    try {
      return sum + cpuMs(pid) + (at === 0 ? childrenMs(pid) : 0);
    } catch {
      return sum;
    }
  }, 0);

/** Shares of one processor, in percent: each daemon, and Postgres. */
const rest = async (nodes: readonly BenchNode[], client: pg.Client): Promise<readonly number[]> => {
  const look = async () => [...nodes.map(({ daemon }) => cpuMs(daemon.pid)), cpuOf(await serverPids(client))];
  const [before, at] = [await look(), performance.now()];
  await sleep(REST_MS);
  const after = await look();
  const passed = performance.now() - at;
  return after.map((value, each) => ((value - before[each]!) / passed) * 100);
};

const mentions = (pid: number, dir: string): boolean =>
  ["environ", "cmdline"].some((file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`).includes(dir);
    } catch {
      return false;
    }
  });

/** The daemon first, so that it does nothing about the others. An agent does not name the directory, and its launcher does. */
const processesOf = ({ dir, daemon }: BenchNode): readonly number[] => {
  const parents = parentsOfAll();
  const named = new Set([...parents.keys()].filter((pid) => mentions(pid, dir)));
  const isIts = (pid: number): boolean => named.has(pid) || named.has(parents.get(pid) ?? 0);
  return [daemon.pid, ...[...parents.keys()].filter((pid) => pid !== daemon.pid && isIts(pid))];
};

const killAll = (pids: readonly number[]): void => {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
};

const powerOff = (node: BenchNode): void => {
  for (let left = processesOf(node); left.length > 1; left = processesOf(node)) killAll(left);
  killAll([node.daemon.pid]);
};

interface LostNode {
  readonly workers: number;
  readonly half_ms: number;
  readonly all_ms: number;
}

const lose = async (nodes: readonly BenchNode[]): Promise<LostNode> => {
  const lost = nodes.at(-1)!;
  const others = nodes.slice(0, -1);
  const [workers, before] = [await live(lost), await runningOn(others)];
  const pids = processesOf(lost);
  const began = performance.now();
  killAll(pids);
  let half_ms = 0;
  await untilRunning(others, before + workers, (running) => {
    if (half_ms === 0 && running >= before + workers / 2) half_ms = performance.now() - began;
  });
  return { workers, half_ms, all_ms: performance.now() - began };
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
const count = (value: number): string => Math.round(value).toLocaleString("en");
const percents = (shares: readonly number[]): string => shares.map((share) => share.toFixed(1)).join(", ");

const measured = async (postgres: TestPostgres, file: string): Promise<readonly Result[]> => {
  const url = await postgres.database("running");
  const nodes = await joined(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const began = performance.now();
    await runAll(nodes);
    const started = performance.now() - began;
    await sleep(SETTLE_MS);
    const shares = await rest(nodes, client);
    const printed = await Promise.all(nodes.map((node) => print(node, file, true)));
    return resultsOf({ started, shares, printed, lost: await lose(nodes) });
  } finally {
    await client.end();
    for (const node of nodes) {
      powerOff(node);
      await removeDirectory(node.dir);
    }
  }
};

export const clusterRunning = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-cluster-"));
  const postgres = await TestPostgres.start();
  try {
    const file = join(dir, "lines");
    writeLines(file);
    return await measured(postgres, file);
  } finally {
    await postgres.remove();
    await removeDirectory(dir);
  }
};

interface RunningFigures {
  readonly started: number;
  readonly shares: readonly number[];
  readonly printed: readonly Printed[];
  readonly lost: LostNode;
}

const resultsOf = ({ started, shares, printed, lost }: RunningFigures): readonly Result[] => {
  const workers = count(WORKERS);
  const copies = printed.map(({ copied, records }) => copied / records);
  const least = Math.min(...copies);
  const ratesOf = (of: (one: Printed) => number): string =>
    printed.map((one) => count(of(one) / one.seconds)).join(", ");
  const daemon = Math.max(...shares.slice(0, NODES.length));
  return [
    {
      name: `placing ${workers} workers on three nodes, ${SIDE_BY_SIDE} requests at a time, until all run`,
      floor: "–",
      measured: `${seconds(started)} s, ${count(WORKERS / (started / 1_000))} workers/s`,
      value: `${seconds(started)} s`,
      threshold: "–",
      ok: true,
    },
    {
      name: `processor time of each of three daemons while ${workers} placed workers sleep, over ${REST_MS / 1_000} s`,
      floor: "–",
      measured: `${percents(shares.slice(0, NODES.length))} % of a processor; Postgres ${percents(shares.slice(NODES.length))} %`,
      value: `${daemon.toFixed(1)} % at most`,
      threshold: "–",
      ok: true,
    },
    {
      name: `records/s in the copy of each of three nodes that run ${workers} placed workers, beside the ingest of one more each`,
      floor: "the same with ended workers, and without a cluster: `npm run bench -- cluster`",
      measured: `${ratesOf(({ copied }) => copied)} of ${ratesOf(({ records }) => records)} records/s`,
      value: `${least.toFixed(2)} of the ingest at least`,
      threshold: `≥ ${COPY_ASKED} each`,
      ok: least >= COPY_ASKED,
    },
    {
      name: `from the SIGKILL of a node with ${count(lost.workers)} workers until all of them run on the two others`,
      floor: `the lease: ${seconds(CLUSTER_LEASE_MS)} s after its last renewal`,
      measured: `half of them after ${seconds(lost.half_ms)} s, all after ${seconds(lost.all_ms)} s`,
      value: `${seconds(lost.all_ms)} s`,
      threshold: `≤ ${seconds(MOVE_ASKED_MS)} s`,
      ok: lost.all_ms <= MOVE_ASKED_MS,
    },
  ];
};
