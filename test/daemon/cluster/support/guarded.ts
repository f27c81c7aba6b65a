/** A node without a daemon: a spawner's runs, the lease as the daemon keeps it, and a guard that is ended with the test. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { identityOf, isAlive, signalProcess } from "../../../../src/adapters/process/identity.ts";
import {
  PLACED_MARKER,
  type PlacedRun,
  placedMarkerOf,
} from "../../../../src/adapters/process/placed-marker.ts";
import type { ProcessRun } from "../../../../src/adapters/process/run.ts";
import type { LaunchRequest } from "../../../../src/adapters/spawner.ts";
import { CLUSTER_STOP_ROOM_MS } from "../../../../src/base/limits.ts";
import { LeaseGuard } from "../../../../src/daemon/cluster/guard.ts";
import { bootClock, writeKept } from "../../../../src/daemon/cluster/kept.ts";
import type { ProcessIdentity } from "../../../../src/protocol/records.ts";
import { makeBench, until } from "../../../adapters/process/support.ts";

export const NODE = "build";

/** The process that the guard's file names; undefined without one. */
export const guardIn = (stateDir: string): ProcessIdentity | undefined => {
  try {
    const [pid, start_time] = readFileSync(join(stateDir, "cluster.guard"), "latin1").trim().split(" ");
    return identityOf(Number(pid), start_time!);
  } catch {
    return undefined;
  }
};

export const endGuardOf = async (stateDir: string): Promise<void> => {
  const guard = guardIn(stateDir);
  if (guard === undefined || guard.pid === process.pid) return;
  signalProcess(guard, "SIGKILL");
  await until(() => !isAlive(guard), "the guard has ended");
};

export const makeGuarded = () => {
  const bench = makeBench();
  onTestFinished(() => endGuardOf(bench.dir));
  const kept = { database: "", name: NODE, labels: {}, capacity: 1, endpoint: "", term: 1, session: "s" };
  const lease = (until_ms: number | null): void => writeKept(bench.dir, { ...kept, until_ms });
  /** Returns the moment at which the runs must begin to end. */
  const leaseThatEndsIn = (ms: number): number => {
    const stop_at = bootClock() + ms;
    lease(stop_at + CLUSTER_STOP_ROOM_MS);
    return stop_at;
  };
  const placed = (
    argv: readonly string[],
    over: Partial<PlacedRun> = {},
    request: Partial<LaunchRequest> = {},
  ): Promise<ProcessRun> => {
    const marker = placedMarkerOf({ node: NODE, worker: "W", term: 1, on_partition: "stop", ...over });
    return bench.launch(argv, {
      ...request,
      env: { PATH: process.env.PATH ?? "", [PLACED_MARKER]: marker },
    });
  };
  const guard = LeaseGuard.open(bench.dir, bench.storeId, NODE);
  return { ...bench, guard, lease, leaseThatEndsIn, placed };
};

/** Fails for an end after the lease that `stop_at` belongs to. */
export const endsInTime = async (stop_at: number, hasEnded: () => boolean, what: string): Promise<number> => {
  await until(hasEnded, what);
  const took = bootClock() - stop_at;
  if (took > CLUSTER_STOP_ROOM_MS) throw new Error(`${what}: ${took} ms after the stop`);
  return took;
};
