/** `RuntimeSpawner` with real processes of this machine (Linux: identities, descendants and the sweep read /proc). */
import { join } from "node:path";
import type { RuntimeSpawner } from "../spawner.ts";
import { launch } from "./launch.ts";
import { observe } from "./observe.ts";
import { Poller } from "./poll.ts";
import { preflight } from "./preflight.ts";
import { Releaser } from "./release.ts";
import type { Host } from "./run.ts";
import { Snapshots } from "./snapshots.ts";
import { Sweeper } from "./sweep.ts";

export interface ProcessSpawnerOptions {
  /** Absolute; made at the first launch where it is missing. */
  readonly runsDir: string;
  /** Made with the database: only processes with its marker are ever ended. */
  readonly storeId: string;
  /** Told once of what this machine cannot do. */
  readonly report?: (message: string) => void;
}

export const makeProcessSpawner = ({
  runsDir,
  storeId,
  report = () => undefined,
}: ProcessSpawnerOptions): RuntimeSpawner => {
  const poller: Poller = new Poller(() => void snapshots.refresh());
  const snapshots = new Snapshots(poller.runs);
  const releaser = new Releaser(report);
  const host: Host = { runsDir, storeId, poller, snapshots, sweeper: new Sweeper(), releaser };
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
