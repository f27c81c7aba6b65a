/** Builds a runtime from the real parts: the log, the process spawner and the adapters of a state directory. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Effect, Result, Schedule, type Scope } from "effect";
import { type Defects, makeDefects } from "../actors/defects.ts";
import { attempt, attemptAsync } from "../actors/machine/attempt.ts";
import type { Services } from "../actors/ports.ts";
import { tracing } from "../actors/trace.ts";
import { currentPlace } from "../adapters/process/identity.ts";
import { heldLifeline, type Lifeline } from "../adapters/process/lifeline.ts";
import { diskFreeBytes, thisMachine } from "../adapters/process/machine-readings.ts";
import { removeOldRuns } from "../adapters/process/old-runs.ts";
import { makeProcessSpawner } from "../adapters/process/spawner.ts";
import { builtIn, type Registry } from "../adapters/registry.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import { whyOf } from "../adapters/user-adapters.ts";
import type { MakeRuntime } from "../adapters/user-runtimes.ts";
import { SealedVault } from "../base/files/sealed-vault.ts";
import { isoTime } from "../base/iso-time.ts";
import {
  CAS_KEPT_MS,
  CLEAN_PERIOD_MS,
  GC_PERIOD_MS,
  RETENTION_DEFAULT_MS,
  SEALED_LOOK_MS,
} from "../base/limits.ts";
import type { SkillConfiguration } from "../protocol/configuration.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { ConfiguredTerms } from "../protocol/federation-configuration.ts";
import type { Roles } from "../protocol/roles.ts";
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
import { toolPolicyOf } from "./control/holders.ts";
import { skillGround } from "./control/skill-ground.ts";
import type { RuntimeServices } from "./core.ts";
import { estimatesBy, type PriceList } from "./prices/estimate.ts";
import { openPrices } from "./prices/lists.ts";
import { makeRunFindings, type RunFindings } from "./run-findings.ts";
import { makeRuntime, type RuntimeOptions } from "./runtime.ts";
import { specFiles } from "./spec-files.ts";
import { confiningIn, preparingWith, probe, workspacesIn } from "./world.ts";

export interface OpenRuntimeOptions {
  /** Absolute path. Created with mode 0700 if it is missing. */
  readonly stateDir: string;
  readonly version: string;
  readonly limits?: Partial<Limits> | undefined;
  /** The known kinds. Default: the built-in ones, without any that must be allowed explicitly. */
  readonly registry?: Registry | undefined;
  /** Milliseconds that output of ended incarnations stays in the log; Infinity for ever. Default: RETENTION_DEFAULT_MS. */
  readonly retentionMs?: number | undefined;
  /** Bytes that the log may have before its oldest output is moved, whatever its age. Default: no bound. */
  readonly retentionBytes?: number | undefined;
  /** The largest answer, in bytes, that is kept as an artifact. Default: CAPTURE_MAX_BYTES. */
  readonly captureMaxBytes?: number | undefined;
  /** Prices for agents that report no cost. The first list with a price for a model counts. */
  readonly prices?: readonly PriceList[] | undefined;
  /** Runtimes beside the built-in one, by name. One that cannot be made is reported and left out. */
  readonly runtimes?: ReadonlyMap<string, MakeRuntime> | undefined;
  /** Roles of agents that others ask for, beside the built-in ones. */
  readonly roles?: Roles | undefined;
  /** Terms of peers, by the names of their hubs. */
  readonly peers?: ConfiguredTerms | undefined;
  /** The cgroup that the runtime may divide among its runs. */
  readonly cgroup?: string | undefined;
  /** The caller makes spans of the log: agents are told of them by TRACEPARENT. Default: false. */
  readonly isTraced?: boolean | undefined;
  /** The rights of this machine as a node of a cluster. */
  readonly leases?: Services["leases"];
  readonly budgets?: Services["budgets"];
  /** The part of config.yaml about skills. */
  readonly skills?: SkillConfiguration | undefined;
  readonly report?: (message: string, cause?: unknown) => void;
  /** Called at the end of each tick, once a second. */
  readonly onTick?: () => void;
  /** Counts the defects of the runtime together with the caller's. */
  readonly defects?: Defects;
  /** Replaces processes, the machine and chance, for tests of programs. No process is started then. */
  readonly world?: Pick<Services, "spawner" | "machine" | "random">;
  /** Wraps the runtime's ports, for tests of their failures. */
  readonly between?: {
    readonly store: (store: Store) => Store;
    readonly spawner: (spawner: RuntimeSpawner) => RuntimeSpawner;
  };
}

/** Opens a runtime. The caller must hold the lock of the state directory: two runtimes would both write to one log. */
export const openRuntime = (
  options: OpenRuntimeOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { registry = builtIn, world } = options;
    const runsDir = join(options.stateDir, "runs");
    const workerDir = (workerId: string) => `${runsDir}/${workerId}`;
    const report = options.report ?? (() => undefined);
    const defects = options.defects ?? makeDefects(report);
    yield* makeDirectory(runsDir);
    const file = join(options.stateDir, "holdfast.db");
    // As early as possible: agents end soon without a lifeline, and the log may need a rebuild first.
    const lifeline = world?.spawner === undefined ? yield* lifelineIn(runsDir) : undefined;
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
    const skills = skillGround(options.stateDir, options.skills);
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
      runtimes: yield* furtherRuntimes(options, opened.store_id, report),
      tampered: findings.workers,
      workerDir,
      files: specFiles(workerDir),
      trace: yield* tracing,
      workspaces: workspacesIn(join(options.stateDir, "worktrees")),
      confine: confiningIn(options.stateDir, skills),
      machine: world?.machine ?? thisMachine,
      leases: options.leases,
      budgets: options.budgets,
      diskFreeBytes: freeBytes,
      boot_id: currentPlace().boot_id,
      random: world?.random ?? Math.random,
      zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      probe,
      adapterFor: registry.adapterFor,
      defects,
      onTick: options.onTick,
      report,
      prepare: preparingWith(registry, skills, workerDir, options.isTraced ?? false),
      toolsOf: (spec) => toolPolicyOf(skills.lists, (id) => store.worker(id)?.spec, spec),
    };
    yield* Effect.forkScoped(Effect.repeat(cleaning(runsDir, services), Schedule.spaced(CLEAN_PERIOD_MS)));
    const runtime = yield* makeRuntime(services, { ...askedOf(options), registry, skills });
    yield* keepTerms(runtime, options);
    yield* forkRetention(runtime, options, collecting(cas, referenced, report));
    return runtime;
  });

const askedOf = (options: OpenRuntimeOptions): Omit<RuntimeOptions, "registry" | "skills"> => ({
  version: options.version,
  state_dir: options.stateDir,
  retention_ms: options.retentionMs ?? RETENTION_DEFAULT_MS,
  retention_bytes: options.retentionBytes,
  roles: options.roles,
  peers: options.peers,
  ...(options.limits && { limits: options.limits }),
});

const lifelineIn = (runsDir: string): Effect.Effect<Lifeline, HoldfastError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(() => heldLifeline(runsDir)),
    (held) => Effect.sync(() => held.close()),
  );

const makeDirectory = (runsDir: string): Effect.Effect<unknown, HoldfastError> =>
  Effect.try({
    try: () => mkdirSync(runsDir, { recursive: true, mode: 0o700 }),
    catch: notMade(runsDir),
  });

const notMade = (runsDir: string) => (cause: unknown) =>
  new HoldfastError(
    "PERMISSION_DENIED",
    `The directory ${runsDir} cannot be created, or its name is taken by something else.`,
    { cause },
  );

/** Gives peers their terms, and ends answers of federated tasks at their time, or with the peer. */
const keepTerms = (
  { peers }: Pick<RuntimeApi, "peers">,
  { stateDir, report }: OpenRuntimeOptions,
): Effect.Effect<void, never, Scope.Scope> => {
  const vault = new SealedVault(stateDir);
  const look = Effect.flatMap(peers.list(), ({ peers: there }) =>
    attempt(() => vault.shred(Date.now(), (owner) => there.some(({ hub_id }) => hub_id === owner))),
  );
  const told = Effect.catch(look, (error) =>
    Effect.sync(() => report?.(`answers of other hubs are kept too long: ${error.message}`, error)),
  );
  const given = Effect.catch(peers.configure(), (error) =>
    Effect.sync(() => report?.(`peers have other terms than config.yaml: ${error.message}`, error)),
  );
  return Effect.asVoid(
    Effect.andThen(given, Effect.forkScoped(Effect.repeat(told, Schedule.spaced(SEALED_LOOK_MS)))),
  );
};

/** Removes old output and old artifacts on their periods. */
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

/** Opens the store. Fails with STORE_CORRUPT if running agents belong to another log. */
const openedStore = (
  file: string,
  runsDir: string,
  report: (message: string) => void,
  defects: Defects,
): Effect.Effect<Store, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    // A log that was repaired may not have its name back yet: it is not lost.
    yield* attempt(() => putBack(file));
    yield* attemptAsync(() => refuseLostLog(file, runsDir, unknownRuns));
    return yield* Effect.acquireRelease(
      attempt(() =>
        openLog({ file, report, onDefect: (cause) => defects.tell("a listener of the log", cause) }),
      ),
      (one) => Effect.sync(() => one.close()),
    );
  });

/** Removes run directories that are no longer needed. */
const cleaning = (runsDir: string, { views, report }: RuntimeServices): Effect.Effect<void> => {
  const isInUse = (workerId: string, incarnation: number) => {
    const standing = views.standing(workerId);
    return standing !== undefined && !isOver(standing, incarnation);
  };
  return Effect.promise((stopped) =>
    removeOldRuns(runsDir, isInUse, Date.now()).catch((cause) => {
      // The runtime was closed meanwhile: the next one continues.
      if (!stopped.aborted) report("old runs could not be removed", cause);
    }),
  );
};

interface BootContext {
  readonly opened: Pick<EventLog, "store_id">;
  readonly findings: RunFindings;
  readonly defects: Defects;
}

/** Made after the log is open, and let go before it is closed. */
const furtherRuntimes = (
  { runtimes = new Map(), stateDir }: OpenRuntimeOptions,
  store_id: string,
  report: (message: string, cause?: unknown) => void,
): Effect.Effect<ReadonlyMap<string, RuntimeSpawner>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const made = new Map<string, RuntimeSpawner>();
    for (const [name, make] of runtimes) {
      const opening = Effect.tryPromise({
        try: () => make({ store_id, state_dir: stateDir }),
        catch: (cause) => cause,
      });
      const opened = yield* Effect.acquireRelease(Effect.result(opening), (one) =>
        Result.isSuccess(one) ? Effect.promise(() => one.success.close()) : Effect.void,
      );
      if (Result.isSuccess(opened)) made.set(name, opened.success);
      else report(`the runtime ${name} is left out: ${whyOf(opened.failure)}`, opened.failure);
    }
    return made;
  });

/** The spawner of real processes, with the lifeline by which they can die with this process. */
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

/** True if nothing more of an incarnation can follow. */
const isOver = ({ incarnation, state }: WorkerStanding, asked: number): boolean =>
  asked < incarnation || (state !== null && isEnded(state));

const SHIPPED: readonly PriceList[] = openPrices(undefined);
/** The length of the day in an RFC 3339 time. */
const DAY_CHARS = 10;

export type { Limits };
