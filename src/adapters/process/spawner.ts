/**
 * `RuntimeSpawner` with real processes of this machine (Linux: identities, descendants and the sweep read
 * /proc).
 */
import { LINEAGE_MAX } from "../../base/limits.ts";
import type { SweepReport } from "../../protocol/records.ts";
import { SUBPROCESS } from "../../protocol/words.ts";
import type { MachineRuntime, ProcessOrigin, RunFinding } from "../posix.ts";
import type { LaunchRequest, ObserveRequest, RunId, RuntimeAbility, RuntimeSpawner } from "../spawner.ts";
import { Cgroups } from "./cgroups.ts";
import type { WatchFiles } from "./change-watch.ts";
import { containerOf } from "./containers.ts";
import { ForkServer } from "./fork-server.ts";
import { NOBODY } from "./identity.ts";
import { KnownOrigins } from "./known-origins.ts";
import { launch } from "./launch.ts";
import { heldLifeline, type Lifeline } from "./lifeline.ts";
import { removeLitter } from "./litter.ts";
import { livingRuns } from "./living.ts";
import { markerOf } from "./marker.ts";
import { type ObservedProcesses, observe } from "./observe.ts";
import { lineageOf, originBelowDaemon, originIn, startOf } from "./origin.ts";
import { MemoryWatch } from "./out-of-memory.ts";
import { Poller } from "./poll.ts";
import { preflight } from "./preflight.ts";
import { realPath } from "./real-path.ts";
import { theReaper } from "./reaper.ts";
import { Releaser } from "./release.ts";
import { ProcessRun, type RunParts } from "./run.ts";
import { readRunFile, runDirectory } from "./run-directory.ts";
import { Snapshots } from "./snapshots.ts";
import { SpareDirectories } from "./spare-directories.ts";
import { Sweeper } from "./sweep.ts";

export interface ProcessSpawnerOptions {
  /** Absolute path; created at the first launch. */
  readonly runsDir: string;
  /** Created with the database: only processes with its marker are ever ended. */
  readonly storeId: string;
  /** How long a run that dies with its daemon waits for the next one. Default: LIFELINE_RENEW_MS. */
  readonly lifelineRenewMs?: number;
  /** Already renewed by the caller; closed with the spawner. */
  readonly lifeline?: Lifeline;
  /** Called with an error that was thrown while one run was checked. */
  readonly onDefect?: (cause: unknown) => void;
  /** Called for changes in a run directory that the runtime did not make. */
  readonly onFinding?: (id: RunId, finding: RunFinding) => void;
  /** Called once for each thing that this machine cannot do. */
  readonly report?: (message: string) => void;
  /** The cgroup that this spawner may divide (`findDelegated`). */
  readonly cgroup?: string | undefined;
  readonly watchFiles?: WatchFiles;
  /** Use a fork server if this machine can have one; a bench measures both ways. */
  readonly hasForkServer?: boolean;
}

const hostOf = (options: ProcessSpawnerOptions): RunParts => {
  const { runsDir, storeId, lifelineRenewMs, lifeline, cgroup, watchFiles, hasForkServer = true } = options;
  const { onDefect = () => undefined, onFinding = () => undefined, report = () => undefined } = options;
  const memory = new MemoryWatch();
  const poller: Poller = new Poller(async () => {
    memory.look();
    return snapshots.keep();
  }, onDefect);
  const snapshots = new Snapshots(poller.runs);
  const cgroups = new Cgroups(cgroup, storeId);
  const forks = hasForkServer ? forkServer(onDefect) : undefined;
  return {
    runsDir,
    storeId,
    poller,
    snapshots,
    sweeper: new Sweeper(cgroups),
    lifeline: lifeline ?? heldLifeline(runsDir, lifelineRenewMs),
    releaser: new Releaser(report),
    memory,
    cgroups,
    watchFiles,
    onFinding,
    forks,
    spare: forks && new SpareDirectories(runsDir, (dir, names) => forks.makeFiles(dir, names)),
  };
};

/** Ends what is left of an unsupervised run, by its marker and its cgroup. */
const endRun = async (host: RunParts, id: RunId): Promise<SweepReport> => {
  const { runsDir, storeId, sweeper, cgroups } = host;
  const file = readRunFile(runDirectory(runsDir, id));
  const marker = markerOf(storeId, id.worker_id, id.incarnation);
  const report = await sweeper.sweep({
    marker,
    launcher: NOBODY,
    recorded: new Map(),
    container: containerOf(file?.is_container, marker),
    cgroup: file?.cgroup !== undefined && cgroups.isOf(id, file.cgroup) ? file.cgroup : undefined,
  });
  if (file?.litter !== undefined && report.survivors.length === 0) await removeLitter(host, id, file.litter);
  return report;
};

/** Undefined on a machine without perl. */
const forkServer = (onLoss: (cause: unknown) => void): ForkServer | undefined => {
  const reaper = theReaper();
  return reaper && new ForkServer(reaper.perl, reaper.calls, onLoss);
};

/** `RuntimeSpawner`, of runs that are processes. */
export interface ProcessSpawner extends RuntimeSpawner {
  readonly posix: MachineRuntime;
  launch(request: LaunchRequest): Promise<ProcessRun>;
  observe(id: ObserveRequest): Promise<ObservedProcesses>;
  end(id: RunId): Promise<SweepReport>;
}

const ABILITIES: ReadonlySet<RuntimeAbility> = new Set(["pause", "input", "limits", "sandbox", "lifeline"]);

export const makeProcessSpawner = (options: ProcessSpawnerOptions): ProcessSpawner => {
  const host = hostOf(options);
  const { runsDir, storeId, poller, cgroups } = host;
  const knownRuns = () => [...poller.runs].filter((run) => run instanceof ProcessRun);
  const originAmong: MachineRuntime["originIn"] = (lineage) =>
    originIn(lineage, knownRuns(), { storeId, runsDir: realPath(runsDir) ?? runsDir });
  const starting = new Set<RunId>();
  const isStarting = ({ worker_id, incarnation }: RunId): boolean =>
    [...starting].some((run) => run.worker_id === worker_id && run.incarnation === incarnation);
  const lookedUp = (pid: number, before_s: number | undefined): ProcessOrigin => {
    const lineage = lineageOf(pid, process.pid, before_s);
    if (lineage === undefined) return { type: "gone" };
    const origin = originBelowDaemon(lineage, process.pid, originAmong(lineage), isStarting);
    // No honest process has so many ancestors, so the origin is unknown.
    return origin.type === "outside" && lineage.length >= LINEAGE_MAX ? { type: "gone" } : origin;
  };
  const origins = new KnownOrigins(() => performance.now());
  return {
    backend_kind: SUBPROCESS,
    abilities: ABILITIES,
    check: async (request) => {
      preflight(request);
      cgroups.check(request.limits ?? {});
    },
    launch: (request) => {
      starting.add(request);
      return launch(host, request).finally(() => starting.delete(request));
    },
    observe: (id) => observe(host, id),
    living: () => livingRuns(storeId),
    end: (id) => endRun(host, id),
    posix: {
      originOf: (pid, before_s) => {
        const start_time = startOf(pid, before_s);
        return start_time === undefined
          ? { type: "gone" }
          : origins.of(pid, start_time, () => lookedUp(pid, before_s));
      },
      originIn: originAmong,
      look: () => host.snapshots.keep(),
      ticked: () => poller.join(),
      polled: () => [...poller.runs].filter((run) => run.isPolled()).length,
    },
    close: async () => {
      for (const run of poller.runs) run.dispose();
      await host.spare?.close();
      host.forks?.close();
      // From here on the next daemon has the time of a renewal.
      host.lifeline.close();
    },
  };
};
