/**
 * `holdfast/effect`: the runtime for Effect programs. `HoldfastRuntime` is the service, `layer` opens a state directory
 * under its lock and supervises as long as the layer lives; closing it leaves the agents to the next one that opens it.
 */
import { Context, Effect, Layer, type Scope } from "effect";
import type { OpenOptions } from "./index.ts";
import { kindsOf, openWith } from "./opening.ts";
import type { HoldfastError } from "./protocol/errors.ts";
import type { RuntimeApi } from "./supervisor/facade.ts";

/**
 * A runtime that lives as long as its scope. Fails with LOCK_HELD where a daemon or another runtime owns the directory, and with
 * INVALID_REQUEST where one of `adapters` is refused. The end of the scope stops no agent; `runtime.shutdown("kill", reason)` before it does.
 */
export const open = (options: OpenOptions = {}): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.flatMap(kindsOf(options), (registry) => openWith(registry, options));

/** Every method is an Effect that fails with a HoldfastError and nothing else; every watch is a Stream. */
export class HoldfastRuntime extends Context.Service<HoldfastRuntime, RuntimeApi>()("holdfast/Runtime") {}

export const layer = (options: OpenOptions = {}): Layer.Layer<HoldfastRuntime, HoldfastError> =>
  Layer.effect(HoldfastRuntime, open(options));

export type { OpenOptions } from "./index.ts";
export { type ErrorCode, HoldfastError } from "./protocol/errors.ts";
export type { KillOptions, RuntimeApi, WatchQuery } from "./supervisor/facade.ts";
