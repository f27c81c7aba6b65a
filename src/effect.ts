/**
 * `holdfast/effect`: the runtime for Effect programs. `HoldfastRuntime` is the service, `layer` opens a state directory
 * under its lock and supervises as long as the layer lives; closing it leaves the agents to the next one that opens it.
 */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { Context, Effect, Layer, type Scope } from "effect";
import { openPrices } from "./adapters/prices/lists.ts";
import { ownIdentity } from "./daemon/daemon-file.ts";
import { acquireLock } from "./daemon/lock.ts";
import { stateDirectory } from "./daemon/paths.ts";
import { ensurePrivateDirectory } from "./daemon/private-directory.ts";
import type { OpenOptions } from "./index.ts";
import { asHoldfastError, type HoldfastError } from "./protocol/errors.ts";
import type { RuntimeApi } from "./supervisor/facade.ts";
import { openRuntime } from "./supervisor/open.ts";
import { VERSION } from "./version.ts";

/**
 * A runtime that lives as long as its scope. Fails with LOCK_HELD where a daemon or another runtime owns the directory. The
 * end of the scope stops no agent; `runtime.shutdown("kill", reason)` before it does.
 */
export const open = (options: OpenOptions = {}): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { stateDir: asked, report, limits } = options;
    const prices = yield* Effect.try({
      try: () => openPrices(options.prices === undefined ? undefined : resolve(options.prices)),
      catch: asHoldfastError,
    });
    const stateDir =
      asked === undefined ? stateDirectory(process.env, homedir(), process.cwd()) : resolve(asked);
    const holder = {
      pid: process.pid,
      version: VERSION,
      socket: "",
      started_at: new Date().toISOString(),
      identity: ownIdentity(),
    };
    yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          ensurePrivateDirectory(stateDir);
          return acquireLock(stateDir, holder);
        },
        catch: asHoldfastError,
      }),
      (lock) => Effect.sync(() => lock.release()),
    );
    return yield* openRuntime({ stateDir, version: VERSION, report, limits, prices });
  });

/** Every method is an Effect that fails with a HoldfastError and nothing else; every watch is a Stream. */
export class HoldfastRuntime extends Context.Service<HoldfastRuntime, RuntimeApi>()("holdfast/Runtime") {}

export const layer = (options: OpenOptions = {}): Layer.Layer<HoldfastRuntime, HoldfastError> =>
  Layer.effect(HoldfastRuntime, open(options));

export type { OpenOptions } from "./index.ts";
export { type ErrorCode, HoldfastError } from "./protocol/errors.ts";
export type { KillOptions, RuntimeApi, WatchQuery } from "./supervisor/facade.ts";
