/**
 * A machine of a cluster is lost: all its processes end at once by SIGKILL, and the bench takes the time until its worker runs on
 * another node. The floor is the lease, which the others must wait for.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CLUSTER_HEARTBEAT_MS, CLUSTER_LEASE_MS } from "../src/base/limits.ts";
import { ClusterOfMachines } from "../test/daemon/cluster/support/machines.ts";
import type { TestPostgres } from "../test/support/postgres.ts";
import { ascending, percentile, type Result } from "./support.ts";

const ROUNDS = process.env.HOLDFAST_QUICK === "1" ? 1 : 5;
const LOOK_MS = 5;
const ASKED_MS = 10_000;

/** The moments at which its agent began, in nanoseconds since 1970. */
const starts = (file: string): readonly bigint[] =>
  existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(BigInt) : [];

const lost = async (postgres: TestPostgres, round: number, dir: string): Promise<number> => {
  const url = await postgres.database(`lost_${round}`);
  const cluster = await ClusterOfMachines.start(() => url, ["a", "b", "c"]);
  try {
    const file = join(dir, `starts-${round}`);
    const words = ["--on-partition", "stop", "--name", "moves", "--restart", "transient"];
    const script = `date +%s%N >> ${file}; exec sleep 100000`;
    await cluster.machines[0]!.agent("spawn", ...words, "--", "sh", "-c", script);
    const machine = await cluster.placed("moves");
    // Any moment between two renewals is as good as another.
    await sleep((round * CLUSTER_HEARTBEAT_MS) / ROUNDS);
    const killed = BigInt(Date.now()) * 1_000_000n;
    cluster.powerOff(machine);
    while (starts(file).length < 2) await sleep(LOOK_MS);
    return Number(starts(file)[1]! - killed) / 1e6;
  } finally {
    await cluster.close();
  }
};

const seconds = (value: number): string => (value / 1_000).toFixed(1);

export const failover = async (postgres: TestPostgres): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-failover-"));
  try {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await lost(postgres, round, dir));
    const sorted = ascending(times);
    const slowest = sorted.at(-1)!;
    return {
      name: "from the SIGKILL of a whole node until its worker runs on another one, of three nodes",
      floor: `the lease: ${seconds(CLUSTER_LEASE_MS)} s after its last renewal`,
      measured: `median ${seconds(percentile(sorted, 50))} s, slowest ${seconds(slowest)} s of ${ROUNDS}`,
      value: `${seconds(slowest)} s`,
      threshold: `≤ ${seconds(ASKED_MS)} s`,
      ok: slowest <= ASKED_MS,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
