/** `RuntimeSpawner` with real processes of this machine (Linux: identities, descendants and the sweep read /proc). */
import { join } from "node:path";
import type { RuntimeSpawner } from "../spawner.ts";
import { Cgroups } from "./cgroups.ts";
import { NOBODY } from "./identity.ts";
import { launch } from "./launch.ts";
import { heldLifeline, type Lifeline } from "./lifeline.ts";
import { removeLitter } from "./litter.ts";
import { livingRuns } from "./living.ts";
import { markerOf } from "./marker.ts";
import type { WatchFiles } from "./notices.ts";
import { observe } from "./observe.ts";
import { MemoryWatch } from "./out-of-memory.ts";
import { Poller } from "./poll.ts";
import { preflight } from "./preflight.ts";
import { Releaser } from "./release.ts";
import type { Host } from "./run.ts";
import { readRunFile, runDirectory } from "./run-directory.ts";
import { Snapshots } from "./snapshots.ts";
import { Sweeper } from "./sweep.ts";

export interface ProcessSpawnerOptions {
  /** Absolute; made at the first launch where it is missing. */
  readonly runsDir: string;
  /** Made with the database: only processes with its marker are ever ended. */
  readonly storeId: string;
  /** A run that dies with its daemon waits so long for the next one: LIFELINE_RENEW_MS. */
  readonly lifelineRenewMs?: number;
  /** Renewed already by who gives it; closed with the spawner. */
  readonly lifeline?: Lifeline;
  /** Told what was thrown by the look at one run. */
  readonly onDefect?: (cause: unknown) => void;
  /** Told once of what this machine cannot do. */
  readonly report?: (message: string) => void;
  /** The cgroup that is this spawner's to divide (`findDelegated`). */
  readonly cgroup?: string | undefined;
  readonly watchFiles?: WatchFiles;
}

export const makeProcessSpawner = ({
  runsDir,
  storeId,
  lifelineRenewMs,
  lifeline = heldLifeline(runsDir, lifelineRenewMs),
  onDefect = () => undefined,
  report = () => undefined,
  cgroup,
  watchFiles,
}: ProcessSpawnerOptions): RuntimeSpawner => {
  const memory = new MemoryWatch();
  const poller: Poller = new Poller(async () => {
    memory.look();
    return (await snapshots.refresh()).table.size;
  }, onDefect);
  const snapshots = new Snapshots(poller.runs);
  const cgroups = new Cgroups(cgroup, storeId);
  const releaser = new Releaser(report);
  const host: Host = {
    runsDir,
    storeId,
    poller,
    snapshots,
    sweeper: new Sweeper(cgroups),
    lifeline,
    releaser,
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
    end: async (id) => {
      const file = readRunFile(runDirectory(runsDir, id));
      const report = await host.sweeper.sweep({
        marker: markerOf(storeId, id.worker_id, id.incarnation),
        launcher: NOBODY,
        recorded: new Map(),
        cgroup: file?.cgroup,
      });
      if (file?.litter !== undefined && report.survivors.length === 0)
        await removeLitter(host, id, file.litter);
      return report;
    },
    polled: () => [...poller.runs].filter((run) => run.isPolled()).length,
    workerDir: (workerId) => join(runsDir, workerId),
    close: async () => {
      for (const run of poller.runs) run.dispose();
      lifeline.close();
    },
  };
};
