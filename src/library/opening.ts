/** Opens a runtime over a state directory, under its lock and with the program's own kinds. Both entry points of the library use it. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { Effect, type Scope } from "effect";
import { facts as llm } from "../adapters/kinds/llm/facts.ts";
import { makeRegistry, type Registry } from "../adapters/registry.ts";
import type { RuntimeSpawner } from "../adapters/spawner.ts";
import { checkAdapters } from "../adapters/user-adapters.ts";
import type { MakeRuntime } from "../adapters/user-runtimes.ts";
import { OPEN_SETTLE_MAX_MS } from "../base/limits.ts";
import { COMMAND_PROGRAM } from "../base/own-command.ts";
import { VERSION } from "../base/version.ts";
import { ownIdentity } from "../daemon/daemon-file.ts";
import { acquireLock } from "../daemon/lock.ts";
import { stateDirectory } from "../daemon/paths.ts";
import { ensurePrivateDirectory } from "../daemon/private-directory.ts";
import type { BridgeConfiguration } from "../protocol/configuration.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import { type OpenRuntimeOptions, openRuntime } from "../runtime/open.ts";
import { openPrices } from "../runtime/prices/lists.ts";
import { checkOpen } from "./checked.ts";
import type { OpenOptions } from "./options.ts";
import { warn } from "./promises.ts";

/** The built-in kinds and those of `adapters`. The adapters are checked first: if one is refused, nothing is opened. */
export const kindsOf = (options: OpenOptions): Effect.Effect<Registry, HoldfastError> =>
  Effect.tryPromise({
    try: async () => {
      checkOpen(options);
      const { adapters = [] } = options;
      const runtimes: Readonly<Record<string, string>> =
        options.engine === undefined ? {} : { [llm.kind]: ENGINE_RUNTIME };
      const stateDir = directoryOf(options.stateDir);
      const checked = await checkAdapters(adapters);
      return makeRegistry({
        users: checked.map((adapter) => ({ adapter, module: null })),
        runtimes,
        stateDir,
      });
    },
    catch: asHoldfastError,
  });

/** The state directory that is meant. */
export const directoryOf = (asked: string | undefined): string =>
  asked === undefined ? stateDirectory(process.env, homedir(), process.cwd()) : resolve(asked);

/** The name of the engine's runtime in a spec. */
const ENGINE_RUNTIME = "engine";

/** Loads the engine only for a program that has one. */
const engineOf = ({ engine, report }: OpenOptions): readonly (readonly [string, MakeRuntime])[] =>
  engine === undefined
    ? []
    : [
        [
          ENGINE_RUNTIME,
          async ({ state_dir }) =>
            (await import("./engine-runtime.ts")).engineRuntime(engine, state_dir, report),
        ],
      ];

/** The part of an opened state directory that the runtime needs. */
interface OpenDirectory {
  readonly options: Pick<OpenRuntimeOptions, "defects" | "onTick">;
  /** Absolute path of the socket that this program serves, if it does. */
  readonly socket: string | undefined;
  /** Called once the runtime is open. */
  readonly served: (api: RuntimeApi) => Effect.Effect<void, HoldfastError, Scope.Scope>;
}

/** Takes the lock of the directory, for this process alone. */
const lockedDirectory = (stateDir: string): Effect.Effect<OpenDirectory, HoldfastError, Scope.Scope> =>
  Effect.as(
    Effect.acquireRelease(
      Effect.try({
        try: () => {
          ensurePrivateDirectory(stateDir);
          return acquireLock(stateDir, {
            pid: process.pid,
            version: VERSION,
            socket: "",
            started_at: new Date().toISOString(),
            identity: ownIdentity(),
          });
        },
        catch: asHoldfastError,
      }),
      (lock) => Effect.sync(() => lock.release()),
    ),
    { options: {}, socket: undefined, served: () => Effect.void },
  );

/** The same with the socket, whose code is loaded only for a program that serves it. */
const servedDirectory = (
  stateDir: string,
  report: NonNullable<OpenOptions["report"]>,
): Effect.Effect<OpenDirectory, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { embeddedServer } = yield* Effect.tryPromise({
      try: () => import("../daemon/embedded.ts"),
      catch: asHoldfastError,
    });
    const { socket, defects, onTick, serve } = yield* embeddedServer({
      stateDir,
      version: VERSION,
      env: process.env,
      report,
    });
    return { options: { defects, onTick }, socket, served: serve };
  });

/** Loads the code of bridges only for a program that has one. */
const makerFor =
  (
    name: string,
    one: RuntimeSpawner | { readonly bridge: BridgeConfiguration },
    { report }: OpenOptions,
    socket: string | undefined,
  ): MakeRuntime =>
  async (home) => {
    if (!("bridge" in one)) return one;
    const [{ bridgeMakerOf }, { peerPid }] = await Promise.all([
      import("../adapters/bridge/maker.ts"),
      import("../daemon/peer.ts"),
    ]);
    const ground = {
      env: process.env,
      daemon: socket === undefined ? undefined : { socket, binary: COMMAND_PROGRAM },
      peerPid,
      report: (message: string) => report?.(message),
    };
    return bridgeMakerOf(name, one.bridge, ground)(home);
  };

export const openWith = (
  registry: Registry,
  options: OpenOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir: asked, report, limits, roles } = options;
    const { skills, runtimes = {}, serve = false } = checkOpen(options);
    const prices = yield* Effect.try({
      try: () => openPrices(options.prices === undefined ? undefined : resolve(options.prices)),
      catch: asHoldfastError,
    });
    const stateDir = directoryOf(asked);
    const directory = yield* serve ? servedDirectory(stateDir, report ?? warn) : lockedDirectory(stateDir);
    const api = yield* openRuntime({
      stateDir,
      version: VERSION,
      registry,
      report,
      limits,
      prices,
      skills,
      roles,
      runtimes: new Map([
        ...Object.entries(runtimes).map(
          ([name, one]) => [name, makerFor(name, one, options, directory.socket)] as const,
        ),
        ...engineOf(options),
      ]),
      ...directory.options,
    });
    // Without this wait, `list` right after the open would show ended workers as running.
    yield* Effect.timeoutOption(api.settled, OPEN_SETTLE_MAX_MS);
    yield* directory.served(api);
    return api;
  });
