/** Puts the real parts together: the log, the process spawner and the adapters of a state directory, under one runtime. */
import { mkdirSync } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { Effect, Schedule, type Scope } from "effect";
import { type Defects, makeDefects } from "../actors/defects.ts";
import { attempt, attemptAsync } from "../actors/machine/attempt.ts";
import type { Services } from "../actors/ports.ts";
import { tracing } from "../actors/trace.ts";
import { variablesOf } from "../adapters/adapter.ts";
import { estimated, type PriceList } from "../adapters/prices/estimate.ts";
import { openPrices } from "../adapters/prices/lists.ts";
import { buildEnvironment, keptEnvironment } from "../adapters/process/environment.ts";
import { currentPlace } from "../adapters/process/identity.ts";
import { removeOldRuns } from "../adapters/process/keep.ts";
import { heldLifeline, type Lifeline } from "../adapters/process/lifeline.ts";
import { refuseLostLog } from "../adapters/process/lost-log.ts";
import { diskFreeBytes, thisMachine } from "../adapters/process/machine.ts";
import { makeProcessSpawner } from "../adapters/process/spawner.ts";
import { builtIn, type Registry } from "../adapters/registry.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import { otherStateDirectories } from "../adapters/workspace/sandbox/daemons.ts";
import { gitDirectories, planWithWorktree } from "../adapters/workspace/sandbox/plan.ts";
import { makeStateDirectories, sandboxed } from "../adapters/workspace/sandbox/sandbox.ts";
import { changesOf } from "../adapters/workspace/worktree/changes.ts";
import {
  adminDirOf,
  assignWorkspace,
  ensureWorkspace,
  lookAtRepository,
  refuseBranch,
  removeWorkspace,
} from "../adapters/workspace/worktree/worktrees.ts";
import {
  CAS_KEPT_MS,
  CLEAN_PERIOD_MS,
  GC_PERIOD_MS,
  PORT_PROBE_MAX_MS,
  RETENTION_DEFAULT_MS,
  SECRET_MAX_BYTES,
} from "../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { addedDirectories } from "../protocol/extensions.ts";
import { secretArguments } from "../protocol/redact.ts";
import { isEnded } from "../protocol/worker.ts";
import { collectArtifacts } from "../store/cas/collect.ts";
import { openArtifacts } from "../store/cas/store.ts";
import { openLog } from "../store/log.ts";
import { makeOffload } from "../store/offload.ts";
import type { EventLog, Standing } from "../store/port.ts";
import { readSecretFile } from "../store/regular-file.ts";
import { putBack } from "../store/write-back.ts";
import type { Limits } from "../supervisor/admission/seats.ts";
import type { RuntimeApi } from "./api.ts";
import { makeRunFindings, type RunFindings } from "./run-findings.ts";
import { makeRuntime } from "./runtime.ts";
import { specFiles } from "./spec-files.ts";

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
    readonly log: (log: EventLog) => EventLog;
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
      try: () => {
        mkdirSync(runsDir, { recursive: true, mode: 0o700 });
      },
      catch: (cause) =>
        new HoldfastError(
          "PERMISSION_DENIED",
          `The directory ${runsDir} cannot be made, or something else has its name.`,
          { cause },
        ),
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
    // A log that was written back, and has not its name again yet, is not lost.
    yield* attempt(() => putBack(file));
    yield* attemptAsync(() => refuseLostLog(file, runsDir));
    const opened = yield* Effect.acquireRelease(
      Effect.try({
        try: () =>
          openLog({
            file,
            report: (sentence) => report(sentence),
            onDefect: (cause) => defects.tell("a listener of the log", cause),
          }),
        catch: asHoldfastError,
      }),
      (store) => Effect.sync(() => store.close()),
    );
    const log = options.between?.log(opened) ?? opened;
    const findings = makeRunFindings(log, report);
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
    const services: Services = {
      artifacts: openArtifacts({
        directory: cas,
        freeBytes,
        floor_bytes: options.limits?.disk_min_bytes,
        referenced,
      }),
      capture_max_bytes: options.captureMaxBytes,
      estimate: (one) =>
        estimated(options.prices ?? SHIPPED, one, new Date().toISOString().slice(0, DAY_CHARS)),
      log,
      spawner,
      tampered: findings.workers,
      files: specFiles((workerId) => spawner.workerDir(workerId)),
      trace: yield* tracing,
      workspaces: {
        look: lookAtRepository,
        refuseBranch,
        assign: (id, spec) => assignWorkspace(join(options.stateDir, "worktrees"), id, spec),
        ensure: (workspace, client_env, signal) => ensureWorkspace(workspace, { client_env, signal }),
        remove: removeWorkspace,
        changes: changesOf,
      },
      confine: async ({ spec, adapter, env, workspace, isStart, repository }, argv) => {
        const cwd = workspace?.cwd ?? spec.cwd;
        const confined = {
          sandbox: spec.sandbox ?? { writable: [] },
          isAgent: adapter.binary !== null,
          cwd,
          added: addedDirectories({ ...spec, cwd }),
          env,
          state: adapter.state ?? [],
          stateDir: options.stateDir,
          otherStateDirs: otherStateDirectories(env),
          workspace,
          adminDir: workspace === undefined ? undefined : adminDirOf(workspace),
        };
        const made = isStart ? makeStateDirectories(confined) : [];
        const box = await sandboxed(confined, argv);
        return repository === undefined
          ? { ...box, made, litter: gitDirectories(confined) }
          : { ...box, plan: planWithWorktree(confined, repository.git_dir) };
      },
      machine: world?.machine ?? thisMachine,
      diskFreeBytes: freeBytes,
      boot_id: currentPlace().boot_id,
      random: world?.random ?? Math.random,
      zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      probe: { fileExists, isDirectory, portAccepts, realPath: (path) => realpath(path) },
      adapterFor: registry.adapterFor,
      defects,
      onTick: options.onTick,
      report,
      prepare: (adapter, spec, incarnation, session, worker_id) =>
        Effect.tryPromise({
          try: async () => {
            const binary =
              adapter.binary === null
                ? ""
                : (spec.env[adapter.binary.variable] ??
                  spec.client_env[adapter.binary.variable] ??
                  registry.binaryOf(adapter)!);
            const plan = adapter.plan({ spec, worker_id, incarnation, session, binary });
            const built = await buildEnvironment({
              spec,
              credentials: variablesOf(adapter, spec),
              planned: plan.env,
              readFile: readSecretFile(SECRET_MAX_BYTES),
            });
            const variables = [
              ...variablesOf(adapter, spec),
              ...(adapter.binary === null ? [] : [adapter.binary.variable]),
            ];
            const secrets = [...built.secrets, ...secretArguments(plan.argv)];
            return { plan, env: built.env, secrets, client_env: keptEnvironment(spec, variables) };
          },
          catch: asHoldfastError,
        }),
    };
    const isInUse = (workerId: string, incarnation: number) => {
      const standing = log.standing(workerId);
      return standing !== undefined && !isOver(standing, incarnation);
    };
    const clean = Effect.promise((stopped) =>
      removeOldRuns(runsDir, isInUse, Date.now()).catch((cause) => {
        // Closed under it: the next open goes on.
        if (!stopped.aborted) services.report("old runs could not be removed", cause);
      }),
    );
    yield* Effect.forkScoped(Effect.repeat(clean, Schedule.spaced(CLEAN_PERIOD_MS)));
    const { retentionMs = RETENTION_DEFAULT_MS } = options;
    const runtime = yield* makeRuntime(services, {
      version: options.version,
      state_dir: options.stateDir,
      registry,
      retention_ms: retentionMs,
      retention_bytes: options.retentionBytes,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
    const gc = Effect.catch(runtime.gc(), (error) =>
      Effect.sync(() => services.report(`old output stays in the log: ${error.message}`, error)),
    );
    if (Number.isFinite(retentionMs) || options.retentionBytes !== undefined)
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(GC_PERIOD_MS), gc)));
    const collect = Effect.promise(() =>
      collectArtifacts({ directory: cas, older_than_ms: CAS_KEPT_MS, dry_run: false, referenced }).catch(
        (cause: HoldfastError) => services.report(`old artifacts stay: ${cause.message}`, cause),
      ),
    );
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(GC_PERIOD_MS), collect)));
    return runtime;
  });

interface Around {
  readonly opened: EventLog;
  readonly findings: RunFindings;
  readonly defects: Defects;
}

/** The spawner of real processes, with the lifeline that lets them die with this one. */
const processes = (
  options: OpenRuntimeOptions,
  runsDir: string,
  lifeline: Lifeline,
  { opened, findings, defects }: Around,
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
const isOver = ({ incarnation, state }: Standing, asked: number): boolean =>
  asked < incarnation || (state !== null && isEnded(state));

const SHIPPED: readonly PriceList[] = openPrices(undefined);
/** The day of an RFC 3339 time. */
const DAY_CHARS = 10;

const fileExists = (cwd: string, path: string): Promise<boolean> =>
  access(resolve(cwd, path)).then(
    () => true,
    () => false,
  );

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const portAccepts = (port: number): Promise<boolean> =>
  new Promise((told) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const answer = (accepts: boolean) => () => {
      socket.destroy();
      told(accepts);
    };
    socket.once("connect", answer(true));
    socket.once("error", answer(false));
    socket.setTimeout(PORT_PROBE_MAX_MS, answer(false));
  });

export type { Limits };
