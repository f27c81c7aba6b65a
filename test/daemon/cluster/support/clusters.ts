/** Clusters of the tests of one file, on a Postgres of its own: each is ended with its test. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { TestPostgres } from "../../../support/postgres.ts";
import { type ClusterMachine, ClusterOfMachines } from "./machines.ts";
import type { OwnDaemon } from "./own-daemon.ts";

/** Called once in a file: its hooks are those of the whole file. */
export const useClusters = () => {
  let postgres: TestPostgres;
  const made: ClusterOfMachines[] = [];
  beforeAll(async () => {
    postgres = await TestPostgres.start();
  });
  afterEach(async () => {
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
  };
};
