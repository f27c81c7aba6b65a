/** Faults from one seed, on a cluster of the model, and the wishes of people meanwhile. */
import { CLUSTER_LEASE_MS } from "../../../src/base/limits.ts";
import { ModelCluster, type ModelOptions } from "./cluster.ts";

const FAULTS = {
  machine_lost: 2,
  daemon_killed: 3,
  daemon_frozen: 3,
  frozen_at_a_start: 3,
  cut: 5,
  cut_for_a_lease: 5,
  frozen_then_cut: 4,
  store_stopped: 1,
  process_exits: 4,
  worker_placed: 3,
  worker_killed: 3,
  drained: 3,
} as const;
type Fault = keyof typeof FAULTS;

const BETWEEN_FAULTS_MS = 4_000;
/** Longer than a lease in half of the cases. */
const FAULT_MS = 6_000;
const PEACE_MS = 60_000;
const WORKERS = 6;
const WORKERS_MIN = 3;
const WORKERS_MAX = 12;

export interface Torment {
  readonly faults: number;
  readonly violations: readonly string[];
  readonly starts: number;
}

/** Ends at the first violation. */
export const torment = (options: ModelOptions, faults: number): Torment => {
  const cluster = new ModelCluster(options);
  for (let at = 0; at < WORKERS; at++) cluster.place(at % 3 === 2 ? "continue" : "stop");
  cluster.clock.runUntil(5_000);
  let done = 0;
  for (; done < faults && cluster.violations.length === 0; done++) {
    strike(cluster, cluster.random.weighted(FAULTS));
    cluster.clock.runUntil(cluster.clock.now + cluster.random.about(BETWEEN_FAULTS_MS));
    cluster.look();
  }
  if (cluster.violations.length === 0) {
    heal(cluster);
    cluster.clock.runUntil(cluster.clock.now + PEACE_MS);
    cluster.lookAtPeace();
  }
  const starts = [...cluster.starts.values()].reduce((sum, { length }) => sum + length, 0);
  return { faults: done, violations: cluster.violations, starts };
};

const strike = (cluster: ModelCluster, fault: Fault): void => {
  const { random, store } = cluster;
  const node = random.pick(cluster.nodes);
  const running = [...store.rows.placements.values()].filter(({ desired }) => desired === "running");
  const strikes: Readonly<Record<Fault, () => (() => void) | undefined>> = {
    machine_lost: () => {
      cluster.switchOff(node);
      return () => cluster.switchOn(node);
    },
    daemon_killed: () => {
      cluster.killDaemon(node);
      return () => cluster.startDaemon(node);
    },
    daemon_frozen: () => {
      const after = random.pick([undefined, "renew", "begin"] as const);
      cluster.daemonOf(node)?.freeze({ after, lasts_ms: random.about(FAULT_MS) });
      return undefined;
    },
    // It stands still between its decision and the start, until others have the worker.
    frozen_at_a_start: () => {
      cluster.daemonOf(node)?.freeze({ after: "launch", lasts_ms: CLUSTER_LEASE_MS + random.below(5_000) });
      const [process] = node.machine.processes;
      if (process !== undefined) node.machine.exit(process.worker);
      return undefined;
    },
    cut: () => {
      node.isCut = true;
      return () => {
        node.isCut = false;
      };
    },
    // It comes back in the moment in which the others would bury it.
    cut_for_a_lease: () => {
      node.isCut = true;
      cluster.clock.after(CLUSTER_LEASE_MS + random.below(1_500), () => {
        node.isCut = false;
      });
      return undefined;
    },
    // An answer that it reads late is its last one.
    frozen_then_cut: () => {
      const cutOff = (): void => {
        node.isCut = true;
        cluster.clock.after(CLUSTER_LEASE_MS * 2, () => {
          node.isCut = false;
        });
      };
      cluster
        .daemonOf(node)
        ?.freeze({ after: "renew", lasts_ms: 2_500 + random.below(2_500), thawed: cutOff });
      return undefined;
    },
    store_stopped: () => {
      store.stop();
      return () => store.start();
    },
    process_exits: () => {
      if (running.length > 0) node.machine.exit(random.pick(running).worker);
      return undefined;
    },
    worker_placed: () => {
      if (store.isUp && running.length < WORKERS_MAX) cluster.place(random.chance(0.3) ? "continue" : "stop");
      return undefined;
    },
    worker_killed: () => {
      // One that is just being placed is where a claim and the tombstone meet.
      const homeless = running.filter(({ worker }) => cluster.whereIs(worker) === undefined);
      const from = homeless.length > 0 ? homeless : running;
      if (running.length > WORKERS_MIN) cluster.kill(random.pick(from).worker);
      return undefined;
    },
    drained: () => {
      if (store.isUp) store.rows.drain(node.id, true);
      return () => void (store.isUp && store.rows.drain(node.id, false));
    },
  };
  const heals = strikes[fault]();
  if (heals !== undefined) cluster.clock.after(random.about(FAULT_MS), heals);
};

const heal = (cluster: ModelCluster): void => {
  cluster.store.start();
  for (const node of cluster.nodes) {
    node.isCut = false;
    cluster.daemonOf(node)?.thaw();
    cluster.switchOn(node);
    cluster.store.rows.drain(node.id, false);
  }
};
