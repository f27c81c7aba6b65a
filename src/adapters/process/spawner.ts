/** `RuntimeSpawner` with real processes of this machine (Linux: identities, descendants and the sweep read /proc). */
import { join } from "node:path";
import type { RuntimeSpawner } from "../spawner.ts";
import { Cgroups } from "./cgroups.ts";
import { NOBODY } from "./identity.ts";
import { launch } from "./launch.ts";
import { Lifeline } from "./lifeline.ts";
import { livingRuns } from "./living.ts";
import type { WatchFiles } from "./notices.ts";
import { observe } from "./observe.ts";
import { MemoryWatch } from "./out-of-memory.ts";
import { Poller } from "./poll.ts";
import { preflight } from "./preflight.ts";
import type { Host } from "./run.ts";
import { readRunFile, runDirectory } from "./run-directory.ts";
import { Snapshots } from "./snapshots.ts";
import { markerOf, Sweeper } from "./sweep.ts";

export interface ProcessSpawnerOptions {
  /** Absolute; made at the first launch where it is missing. */
  readonly runsDir: string;
  /** Made with the database: only processes with its marker are ever ended. */
  readonly storeId: string;
  /** A run that dies with its daemon waits so long for the next one: LIFELINE_RENEW_MS. */
  readonly lifelineRenewMs?: number;
  /** The cgroup that is this spawner's to divide (`findDelegated`). */
  readonly cgroup?: string | undefined;
  readonly watchFiles?: WatchFiles;
}

export const makeProcessSpawner = ({
  runsDir,
  storeId,
  lifelineRenewMs,
  cgroup,
  watchFiles,
}: ProcessSpawnerOptions): RuntimeSpawner => {
  const memory = new MemoryWatch();
  const poller: Poller = new Poller(() => {
    memory.look();
    void snapshots.refresh();
  });
  const snapshots = new Snapshots(poller.runs);
  const cgroups = new Cgroups(cgroup, storeId);
  const lifeline = new Lifeline(runsDir, lifelineRenewMs);
  lifeline.renew();
  const host: Host = {
    runsDir,
    storeId,
    poller,
    snapshots,
    sweeper: new Sweeper(cgroups),
    lifeline,
    memory,
    cgroups,
    watchFiles,
  };
  return {
    check: async (request) => {
      preflight(request);
      cgroups.check(request.limits ?? {});
    },
    launch: (request) => launch(host, request),
    observe: (id) => observe(host, id),
    living: () => livingRuns(storeId),
    end: ({ worker_id, incarnation }) =>
      host.sweeper.sweep({
        marker: markerOf(storeId, worker_id, incarnation),
        launcher: NOBODY,
        recorded: new Map(),
        cgroup: readRunFile(runDirectory(runsDir, { worker_id, incarnation }))?.cgroup,
      }),
    polled: () => [...poller.runs].filter((run) => run.isPolled()).length,
    workerDir: (workerId) => join(runsDir, workerId),
    close: async () => {
      for (const run of poller.runs) run.dispose();
      lifeline.close();
    },
  };
};
