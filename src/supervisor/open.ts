/** Puts the real parts together: the log, the process spawner and the adapters of a state directory, under one runtime. */
import { chmodSync, mkdirSync } from "node:fs";
import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { Effect, Schedule, type Scope } from "effect";
import { buildEnvironment, keptEnvironment } from "../adapters/process/environment.ts";
import { currentPlace } from "../adapters/process/identity.ts";
import { removeOldRuns } from "../adapters/process/keep.ts";
import { thisMachine } from "../adapters/process/machine.ts";
import { makeProcessSpawner } from "../adapters/process/spawner.ts";
import { adapterFor, adapters, suggestKind } from "../adapters/registry.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { CLEAN_PERIOD_MS, PORT_PROBE_MAX_MS } from "../protocol/limits.ts";
import { isEnded, WorkerSpec } from "../protocol/worker.ts";
import { openLog } from "../store/log.ts";
import type { RuntimeApi } from "./facade.ts";
import { makeRuntime } from "./runtime.ts";
import type { Limits } from "./seats.ts";
import type { Services, SpecFiles } from "./services.ts";
import { tracing } from "./trace.ts";

export interface OpenRuntimeOptions {
  /** Absolute; made with mode 0700 where it is missing. */
  readonly stateDir: string;
  readonly version: string;
  readonly limits?: Partial<Limits> | undefined;
  /** The cgroup that is the runtime's to divide among its runs. */
  readonly cgroup?: string | undefined;
  readonly report?: (message: string, cause?: unknown) => void;
}

/** The caller holds the lock of the state directory: two runtimes on one log would both write it. */
export const openRuntime = (
  options: OpenRuntimeOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const runsDir = join(options.stateDir, "runs");
    yield* Effect.try({
      try: () => {
        mkdirSync(runsDir, { recursive: true, mode: 0o700 });
        chmodSync(options.stateDir, 0o700);
      },
      catch: (cause) =>
        new HoldfastError(
          "PERMISSION_DENIED",
          `The state directory ${options.stateDir} cannot be made or owned.`,
          { cause },
        ),
    });
    const log = yield* Effect.acquireRelease(
      Effect.try({
        try: () => openLog({ file: join(options.stateDir, "holdfast.db") }),
        catch: asHoldfastError,
      }),
      (opened) => Effect.sync(() => opened.close()),
    );
    const spawner = yield* Effect.acquireRelease(
      Effect.sync(() => makeProcessSpawner({ runsDir, storeId: log.store_id, cgroup: options.cgroup })),
      (made) => Effect.promise(() => made.close()),
    );
    const services: Services = {
      log,
      spawner,
      files: specFiles((workerId) => spawner.workerDir(workerId)),
      trace: yield* tracing,
      machine: thisMachine,
      boot_id: currentPlace().boot_id,
      random: Math.random,
      probe: { fileExists, portAccepts },
      adapterFor,
      report: options.report ?? (() => undefined),
      prepare: (adapter, spec, incarnation, session) =>
        Effect.tryPromise({
          try: async () => {
            const binary =
              adapter.binary === null
                ? ""
                : (spec.env[adapter.binary.variable] ??
                  spec.client_env[adapter.binary.variable] ??
                  adapter.binary.name);
            const plan = adapter.plan({ spec, incarnation, session, binary });
            const built = await buildEnvironment({
              spec,
              credentials: adapter.credentials,
              planned: plan.env,
              readFile: (path) => readFile(path, "utf8"),
            });
            const variables = [
              ...adapter.credentials,
              ...(adapter.binary === null ? [] : [adapter.binary.variable]),
            ];
            return { plan, ...built, client_env: keptEnvironment(spec, variables) };
          },
          catch: asHoldfastError,
        }),
    };
    const isInUse = (workerId: string, incarnation: number) => {
      const row = log.worker(workerId);
      return row !== undefined && !isEnded(row.state) && row.incarnation <= incarnation;
    };
    const clean = Effect.promise((stopped) =>
      removeOldRuns(runsDir, isInUse, Date.now()).catch((cause) => {
        // Closed under it: the next open goes on.
        if (!stopped.aborted) services.report("old runs could not be removed", cause);
      }),
    );
    yield* Effect.forkScoped(Effect.repeat(clean, Schedule.spaced(CLEAN_PERIOD_MS)));
    return yield* makeRuntime(services, {
      version: options.version,
      state_dir: options.stateDir,
      adapters,
      suggestKind,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
  });

const fileExists = (cwd: string, path: string): Promise<boolean> =>
  access(resolve(cwd, path)).then(
    () => true,
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

/** `runs/<worker>/spec.json`, 0600, written whole or not at all. */
const specFiles = (dirOf: (workerId: string) => string): SpecFiles => ({
  save: async (workerId, spec) => {
    const dir = dirOf(workerId);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const temporary = join(dir, "spec.json.tmp");
    await writeFile(temporary, JSON.stringify(spec), { mode: 0o600 });
    await rename(temporary, join(dir, "spec.json"));
  },
  load: async (workerId) => {
    try {
      return WorkerSpec.parse(JSON.parse(await readFile(join(dirOf(workerId), "spec.json"), "utf8")));
    } catch (cause) {
      throw new HoldfastError(
        "INVALID_STATE",
        `The launch spec of worker ${workerId} is not kept (any more).`,
        { cause, suggestion: "Spawn it anew." },
      );
    }
  },
});
