/** Puts the real parts together: the log, the process spawner and the adapters of a state directory, under one runtime. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Effect, Schedule, type Scope } from "effect";
import { type Defects, makeDefects } from "../actors/defects.ts";
import { attempt, attemptAsync } from "../actors/machine/attempt.ts";
import type { Services } from "../actors/ports.ts";
import { tracing } from "../actors/trace.ts";
import { currentPlace } from "../adapters/process/identity.ts";
import { removeOldRuns } from "../adapters/process/keep.ts";
import { heldLifeline, type Lifeline } from "../adapters/process/lifeline.ts";
import { diskFreeBytes, thisMachine } from "../adapters/process/machine.ts";
import { makeProcessSpawner } from "../adapters/process/spawner.ts";
import { builtIn, type Registry } from "../adapters/registry.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import { isoTime } from "../base/iso-time.ts";
import { CAS_KEPT_MS, CLEAN_PERIOD_MS, GC_PERIOD_MS, RETENTION_DEFAULT_MS } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { isEnded } from "../protocol/worker.ts";
import { collectArtifacts } from "../store/cas/collect.ts";
import { openArtifacts } from "../store/cas/store.ts";
import type { EventLog } from "../store/event-log.ts";
import { openLog } from "../store/sqlite/log.ts";
import { unknownRuns } from "../store/sqlite/offline.ts";
import { makeOffload } from "../store/sqlite/offload.ts";
import { putBack } from "../store/sqlite/write-back.ts";
import type { Store } from "../store/upkeep.ts";
import type { WorkerStanding } from "../store/views.ts";
import type { Limits } from "../supervisor/admission/seats.ts";
import type { RuntimeApi } from "./api.ts";
import { refuseLostLog } from "./boot/lost-log.ts";
import type { RuntimeServices } from "./core.ts";
import { estimatesBy, type PriceList } from "./prices/estimate.ts";
import { openPrices } from "./prices/lists.ts";
import { makeRunFindings, type RunFindings } from "./run-findings.ts";
import { makeRuntime } from "./runtime.ts";
import { specFiles } from "./spec-files.ts";
import { confiningIn, preparingWith, probe, workspacesIn } from "./world.ts";

export interface OpenRuntimeOptions {
  /** Absolute; made with mode 0700 where it is missing. */
  readonly stateDir: string;
  readonly version: string;
  readonly limits?: Partial<Limits> | undefined;
  /** The kinds that there are. Default: ours, with nothing allowed that must be. */
  readonly registry?: Registry | undefined;
  /** How long output of ended incarnations stays in the log; Infinity is for ever. */
  readonly retentionMs?: number | undefined;
  /** Bytes that the log may take before its oldest output goes, whatever its age. Default: as much as there is. */
  readonly retentionBytes?: number | undefined;
  /** The largest answer that is kept as an artifact. */
  readonly captureMaxBytes?: number | undefined;
  /** The prices of what agents report no cost of: the first list that has one for a model. */
  readonly prices?: readonly PriceList[] | undefined;
  /** The cgroup that is the runtime's to divide among its runs. */
  readonly cgroup?: string | undefined;
  readonly report?: (message: string, cause?: unknown) => void;
  /** Called when everything has been looked at, once a second. */
  readonly onTick?: () => void;
  /** The place where the defects of the runtime are counted with those of the caller. */
  readonly defects?: Defects;
  /** In the place of processes, of the machine and of chance: for tests of programs. No process is started then. */
  readonly world?: Pick<Services, "spawner" | "machine" | "random">;
  /** Stand between the runtime and its ports: for tests of what holds when those fail. */
  readonly between?: {
    readonly store: (store: Store) => Store;
    readonly spawner: (spawner: RuntimeSpawner) => RuntimeSpawner;
  };
}

/** The caller holds the lock of the state directory: two runtimes on one log would both write it. */
export const openRuntime = (
  options: OpenRuntimeOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { registry = builtIn } = options;
    const runsDir = join(options.stateDir, "runs");
    const report = options.report ?? (() => undefined);
    const defects = options.defects ?? makeDefects(report);
    yield* Effect.try({
      try: () => mkdirSync(runsDir, { recursive: true, mode: 0o700 }),
      catch: notMade(runsDir),
    });
    const file = join(options.stateDir, "holdfast.db");
    const { world } = options;
    // As early as can be: runs of the daemon before may be counting the seconds, and a log may have to be folded anew.
    const lifeline =
      world?.spawner === undefined
        ? yield* Effect.acquireRelease(
            attempt(() => heldLifeline(runsDir)),
            (held) => Effect.sync(() => held.close()),
          )
        : undefined;
    const opened = yield* openedStore(file, runsDir, report, defects);
    const store = options.between?.store(opened) ?? opened;
    const findings = makeRunFindings(store, report);
    const around = { opened, findings, defects };
    const made = world?.spawner ?? (yield* processes(options, runsDir, lifeline!, around));
    const spawner = options.between?.spawner(made) ?? made;
    const offload = yield* Effect.acquireRelease(
      Effect.sync(() => makeOffload()),
      (aside) => Effect.sync(() => aside.close()),
    );
    const referenced = async () => new Set(await offload.run("references", { file }));
    const cas = join(options.stateDir, "cas");
    const freeBytes = () => diskFreeBytes(options.stateDir);
    const estimate = estimatesBy(options.prices ?? SHIPPED);
    const services: RuntimeServices = {
      artifacts: openArtifacts({
        directory: cas,
        freeBytes,
        floor_bytes: options.limits?.disk_min_bytes,
        referenced,
      }),
      capture_max_bytes: options.captureMaxBytes,
      estimate: (one) => estimate(one, isoTime(Date.now()).slice(0, DAY_CHARS)),
      log: store,
      views: store,
      upkeep: store,
      spawner,
      tampered: findings.workers,
      files: specFiles((workerId) => spawner.workerDir(workerId)),
      trace: yield* tracing,
      workspaces: workspacesIn(join(options.stateDir, "worktrees")),
      confine: confiningIn(options.stateDir),
      machine: world?.machine ?? thisMachine,
      diskFreeBytes: freeBytes,
      boot_id: currentPlace().boot_id,
      random: world?.random ?? Math.random,
      zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      probe,
      adapterFor: registry.adapterFor,
      defects,
      onTick: options.onTick,
      report,
      prepare: preparingWith(registry),
    };
    yield* Effect.forkScoped(Effect.repeat(cleaning(runsDir, services), Schedule.spaced(CLEAN_PERIOD_MS)));
    const runtime = yield* makeRuntime(services, {
      version: options.version,
      state_dir: options.stateDir,
      registry,
      retention_ms: options.retentionMs ?? RETENTION_DEFAULT_MS,
      retention_bytes: options.retentionBytes,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
    yield* forkRetention(runtime, options, collecting(cas, referenced, report));
    return runtime;
  });

const notMade = (runsDir: string) => (cause: unknown) =>
  new HoldfastError(
    "PERMISSION_DENIED",
    `The directory ${runsDir} cannot be made, or something else has its name.`,
    { cause },
  );

/** Removes old output, and old artifacts, on their period. */
const forkRetention = (
  runtime: RuntimeApi,
  { retentionMs = RETENTION_DEFAULT_MS, retentionBytes, report }: OpenRuntimeOptions,
  collect: Effect.Effect<void>,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const onPeriod = (work: Effect.Effect<unknown>) =>
      Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(GC_PERIOD_MS), work)));
    const gc = Effect.catch(runtime.gc(), (error) =>
      Effect.sync(() => report?.(`old output stays in the log: ${error.message}`, error)),
    );
    if (Number.isFinite(retentionMs) || retentionBytes !== undefined) yield* onPeriod(gc);
    yield* onPeriod(collect);
  });

const collecting = (
  directory: string,
  referenced: () => Promise<ReadonlySet<string>>,
  report: (message: string, cause?: unknown) => void,
): Effect.Effect<void> =>
  Effect.promise(async () => {
    const how = { directory, older_than_ms: CAS_KEPT_MS, dry_run: false, referenced };
    await collectArtifacts(how).catch((cause: HoldfastError) =>
      report(`old artifacts stay: ${cause.message}`, cause),
    );
  });

/** Fails where the log that is there is not the one of the agents that run. */
const openedStore = (
  file: string,
  runsDir: string,
  report: (message: string) => void,
  defects: Defects,
): Effect.Effect<Store, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    // A log that was written back, and has not its name again yet, is not lost.
    yield* attempt(() => putBack(file));
    yield* attemptAsync(() => refuseLostLog(file, runsDir, unknownRuns));
    return yield* Effect.acquireRelease(
      attempt(() =>
        openLog({ file, report, onDefect: (cause) => defects.tell("a listener of the log", cause) }),
      ),
      (one) => Effect.sync(() => one.close()),
    );
  });

/** Removes the run directories that nobody needs any more. */
const cleaning = (runsDir: string, { views, report }: RuntimeServices): Effect.Effect<void> => {
  const isInUse = (workerId: string, incarnation: number) => {
    const standing = views.standing(workerId);
    return standing !== undefined && !isOver(standing, incarnation);
  };
  return Effect.promise((stopped) =>
    removeOldRuns(runsDir, isInUse, Date.now()).catch((cause) => {
      // Closed under it: the next open goes on.
      if (!stopped.aborted) report("old runs could not be removed", cause);
    }),
  );
};

interface BootContext {
  readonly opened: Pick<EventLog, "store_id">;
  readonly findings: RunFindings;
  readonly defects: Defects;
}

/** The spawner of real processes, with the lifeline that lets them die with this one. */
const processes = (
  options: OpenRuntimeOptions,
  runsDir: string,
  lifeline: Lifeline,
  { opened, findings, defects }: BootContext,
): Effect.Effect<RuntimeSpawner, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      makeProcessSpawner({
        runsDir,
        storeId: opened.store_id,
        cgroup: options.cgroup,
        lifeline,
        onDefect: (cause) => defects.tell("a look at a run", cause),
        onFinding: findings.tell,
        report: (message) => options.report?.(message),
      }),
    ),
    (made) => Effect.promise(() => made.close()),
  );

/** Whether nothing more of an incarnation is to come. */
const isOver = ({ incarnation, state }: WorkerStanding, asked: number): boolean =>
  asked < incarnation || (state !== null && isEnded(state));

const SHIPPED: readonly PriceList[] = openPrices(undefined);
/** The day of an RFC 3339 time. */
const DAY_CHARS = 10;

export type { Limits };
