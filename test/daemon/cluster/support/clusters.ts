/** Clusters of the tests of one file, on a Postgres of its own: each is ended with its test. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { TestPostgres } from "../../../support/postgres.ts";
import { type ClusterMachine, ClusterOfMachines } from "./machines.ts";
import type { OwnDaemon } from "./own-daemon.ts";
import { CuttableWay } from "./way.ts";

/** Called once in a file: its hooks are those of the whole file. */
export const useClusters = () => {
  let postgres: TestPostgres;
  const made: ClusterOfMachines[] = [];
  const ways: CuttableWay[] = [];
  beforeAll(async () => {
    postgres = await TestPostgres.start();
  });
  afterEach(async () => {
    for (const way of ways.splice(0)) way.close();
    for (const cluster of made.splice(0)) await cluster.close();
  });
  afterAll(async () => {
    await postgres?.remove();
  });
  return {
    postgres: () => postgres,
    clusterOf: async (
      name: string,
      machines: readonly string[],
      prepare?: (machine: ClusterMachine) => readonly string[],
      daemons?: Readonly<Record<string, OwnDaemon>>,
    ): Promise<ClusterOfMachines> => {
      const url = await postgres.database(name);
      const cluster = await ClusterOfMachines.start(() => url, machines, prepare, daemons);
      made.push(cluster);
      return cluster;
    },
    /** The first machine reaches the database by a way that can be cut. */
    cuttableCluster: async (name: string, machines: readonly string[]) => {
      const url = await postgres.database(name);
      const way = await CuttableWay.make(postgres.port);
      ways.push(way);
      const through = new URL(url);
      through.port = String(way.port);
      const urlOf = (machine: string): string => (machine === machines[0] ? through.href : url);
      const cluster = await ClusterOfMachines.start(urlOf, machines);
      made.push(cluster);
      return { cluster, way };
    },
  };
};
