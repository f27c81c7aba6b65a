/** `RuntimeSpawner` with real processes of this machine (Linux: identities, descendants and the sweep read /proc). */
import { join } from "node:path";
import type { RuntimeSpawner } from "../spawner.ts";
import { launch } from "./launch.ts";
import { observe } from "./observe.ts";
import { Poller } from "./poll.ts";
import { preflight } from "./preflight.ts";
import type { Host } from "./run.ts";
import { Snapshots } from "./snapshots.ts";
import { Sweeper } from "./sweep.ts";

export interface ProcessSpawnerOptions {
  /** Absolute; made at the first launch where it is missing. */
  readonly runsDir: string;
  /** Made with the database: only processes with its marker are ever ended. */
  readonly storeId: string;
}

export const makeProcessSpawner = ({ runsDir, storeId }: ProcessSpawnerOptions): RuntimeSpawner => {
  const poller: Poller = new Poller(async () => (await snapshots.refresh()).table.size);
  const snapshots = new Snapshots(poller.runs);
  const host: Host = { runsDir, storeId, poller, snapshots, sweeper: new Sweeper() };
  return {
    check: async (request) => preflight(request),
    launch: (request) => launch(host, request),
    observe: (id) => observe(host, id),
    workerDir: (workerId) => join(runsDir, workerId),
    close: async () => {
      for (const run of poller.runs) run.dispose();
    },
  };
};
