/**
 * `holdfast/effect`: the runtime for Effect programs. `HoldfastRuntime` is the service, `layer` opens a state directory
 * under its lock and supervises as long as the layer lives; closing it leaves the agents to the next one that opens it.
 */
import "./node-version.ts";
import { Context, Effect, Layer, type Scope } from "effect";
import type { HoldfastError } from "../protocol/errors.ts";
import type { TreeSpecInput } from "../protocol/tree.ts";
import type { RuntimeApi as Core } from "../runtime/api.ts";
import type { AppliedReply, SpawnReply } from "../runtime/replies.ts";
import { applyAs, spawnAs } from "./asked.ts";
import { kindsOf, openWith } from "./opening.ts";
import type { OpenOptions, SpawnOptions } from "./options.ts";

/** Every method is an Effect that fails with a HoldfastError and nothing else; every watch is a Stream. */
export interface RuntimeApi extends Omit<Core, "spawn" | "applyTree"> {
  /** Starts a worker as `Runtime.spawn` does: in this process's directory, with the variables of it that may reach the agent. */
  spawn(options: SpawnOptions): Effect.Effect<SpawnReply, HoldfastError>;
  /** Brings a tree in line with what is given, as `Runtime.applyTree` does. */
  applyTree(
    tree: TreeSpecInput,
    options?: { readonly dry_run?: boolean },
  ): Effect.Effect<AppliedReply, HoldfastError>;
}

/**
 * A runtime that lives as long as its scope. Fails with LOCK_HELD where a daemon or another runtime owns the directory, and with
 * INVALID_REQUEST where one of `adapters` is refused. The end of the scope stops no agent; `runtime.shutdown("kill", reason)` before it does.
 */
export const open = (options: OpenOptions = {}): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.flatMap(kindsOf(options), (registry) =>
    Effect.map(
      openWith(registry, options),
      (api): RuntimeApi => ({
        ...api,
        spawn: (asked) => spawnAs(api, registry, asked),
        applyTree: (tree, how = {}) => applyAs(api, registry, tree, how),
      }),
    ),
  );

/** The service that `layer` provides. */
export class HoldfastRuntime extends Context.Service<HoldfastRuntime, RuntimeApi>()("holdfast/Runtime") {}

export const layer = (options: OpenOptions = {}): Layer.Layer<HoldfastRuntime, HoldfastError> =>
  Layer.effect(HoldfastRuntime, open(options));

export { type ErrorCode, HoldfastError } from "../protocol/errors.ts";
export type { TreeSpecInput } from "../protocol/tree.ts";
export type { KillOptions, WatchQuery } from "../runtime/api.ts";
export type { OpenOptions, SpawnOptions } from "./options.ts";
