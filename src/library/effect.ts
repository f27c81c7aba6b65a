/**
 * `holdfast/effect`: the runtime for Effect programs. `HoldfastRuntime` is the service. `layer` opens a state directory
 * under its lock and supervises its workers as long as the layer lives. Closing the layer leaves the agents running for the
 * next runtime.
 */
import "./node-version.ts";
import { type Config, Context, Effect, Layer, type Scope } from "effect";
import type { Registry } from "../adapters/registry.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { SubmittedJob } from "../protocol/replies/jobs.ts";
import type { ScheduleChange } from "../protocol/replies/schedules.ts";
import type { SearchReply } from "../protocol/replies/search.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import type { MadeToken } from "../protocol/replies/tokens.ts";
import type { RuntimeApi as Core, JobsApi } from "../runtime/api.ts";
import type { AppliedReply, SpawnReply } from "../runtime/replies.ts";
import type { SchedulesApi } from "../runtime/schedules-api.ts";
import type { TokensApi } from "../runtime/tokens-api.ts";
import { scheduleAs, spawnAs, spawnManyAs, submitAs } from "./asked.ts";
import { type BlackboardCalls, blackboardOf } from "./blackboard-calls.ts";
import { type BoardCalls, boardOf } from "./board-calls.ts";
import { checked, optionsOf } from "./checked.ts";
import { checkedThen } from "./checked-then.ts";
import { inPrograms, type ScopedWorker, scopedWorker } from "./effect-calls.ts";
import { kindsOf, openWith } from "./opening.ts";
import type {
  JobOptions,
  OpenOptions,
  ScheduleOptions,
  SearchOptions,
  SpawnManyOptions,
  SpawnOptions,
  TokenOptions,
} from "./options.ts";
import { inProgram } from "./suggestions.ts";
import { createTokenAs } from "./tokens-calls.ts";
import { applyAs } from "./tree-calls.ts";
import type { ApplyTreeOptions, TreeDefinition } from "./trees.ts";

/** Every method is an Effect that fails only with a HoldfastError; every watch is a Stream. */
export interface RuntimeApi
  extends Omit<
    Core,
    "spawn" | "applyTree" | "jobs" | "blackboard" | "board" | "search" | "spawnMany" | "schedules" | "tokens"
  > {
  /** Jobs, as `Runtime.jobs` has them. */
  readonly jobs: Omit<JobsApi, "submit"> & {
    submit(options: JobOptions): Effect.Effect<SubmittedJob, HoldfastError>;
  };
  readonly blackboard: BlackboardCalls;
  readonly board: BoardCalls;
  /** Finds records by their words, as `Runtime.search` does. */
  search(text: string, options?: SearchOptions): Effect.Effect<SearchReply, HoldfastError>;
  /** Schedules, as `Runtime.schedules` has them. */
  readonly schedules: Omit<SchedulesApi, "add"> & {
    add(options: ScheduleOptions): Effect.Effect<ScheduleChange, HoldfastError>;
  };
  /** Tokens with names, as `Runtime.tokens` has them. */
  readonly tokens: Omit<TokensApi, "create"> & {
    create(options: TokenOptions): Effect.Effect<MadeToken, HoldfastError>;
  };
  /** Starts several agents by their roles, as `Runtime.spawnMany` does. */
  spawnMany(options: SpawnManyOptions): Effect.Effect<SpawnManyReply, HoldfastError>;
  /** Starts a worker as `Runtime.spawn` does: in this process's directory, with those of its variables that may reach the agent. */
  spawn(options: SpawnOptions): Effect.Effect<SpawnReply, HoldfastError>;
  /**
   * Starts a worker as `spawn` does, for as long as the scope lives: its end, or an interruption of the program, kills the
   * worker and waits until its processes are gone. `spawn` starts one that outlives the program.
   */
  run(options: SpawnOptions): Effect.Effect<ScopedWorker, HoldfastError, Scope.Scope>;
  /** Changes a tree to match this spec, as `Runtime.applyTree` does. */
  applyTree(
    tree: TreeDefinition,
    options?: Omit<ApplyTreeOptions, "signal">,
  ): Effect.Effect<AppliedReply, HoldfastError>;
}

/**
 * A runtime that lives as long as its scope. Fails with LOCK_HELD if a daemon or another runtime owns the directory, and
 * with INVALID_REQUEST if one of `adapters` is refused. The end of the scope stops no agent; call `runtime.shutdown("kill",
 * reason)` before it to stop them.
 */
export const open = (options: OpenOptions = {}): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.mapError(
    Effect.flatMap(kindsOf(options), (registry) =>
      Effect.map(openWith(registry, options), (api) => callsOf(api, registry)),
    ),
    inProgram,
  );

const callsOf = (api: Core, registry: Registry): RuntimeApi =>
  inPrograms({
    ...api,
    blackboard: blackboardOf(api),
    board: boardOf(api, registry),
    search: (text, how = {}) =>
      checkedThen(() => checked("agent/search", { text, ...optionsOf(how) }), api.search),
    schedules: { ...api.schedules, add: (asked) => scheduleAs(api, registry, asked) },
    tokens: { ...api.tokens, create: (asked) => createTokenAs(api.tokens, asked) },
    spawnMany: (asked) => spawnManyAs(api, asked),
    spawn: (asked) => spawnAs(api, registry, asked),
    // Its parts are values, whose own failures are told to the program too.
    run: (asked) => scopedWorker(inPrograms(api), spawnAs(api, registry, asked)),
    jobs: { ...api.jobs, submit: (asked) => submitAs(api, registry, asked) },
    applyTree: (tree, how = {}) => applyAs(api, registry, tree, how),
  } satisfies RuntimeApi);

/** The service that `layer` provides. */
export class HoldfastRuntime extends Context.Service<HoldfastRuntime, RuntimeApi>()("holdfast/Runtime") {}

export const layer = (options: OpenOptions = {}): Layer.Layer<HoldfastRuntime, HoldfastError> =>
  Layer.effect(HoldfastRuntime, open(options));

/** As `layer`, with options that a `Config` reads, for example `Config.all({ stateDir: Config.String("AGENTS") })`. */
export const layerConfig = (
  options: Config.Config<OpenOptions>,
): Layer.Layer<HoldfastRuntime, Config.ConfigError | HoldfastError> =>
  Layer.unwrap(Effect.map(options, layer));

export { type ErrorCode, HoldfastError } from "../protocol/errors.ts";
export type { TreeSpecInput } from "../protocol/tree.ts";
export type { KillOptions, MailboxApi, MailToSend, WatchQuery } from "../runtime/api.ts";
export type { SkillAsked, SkillsApi } from "../runtime/skills-api.ts";
export type { ScopedWorker } from "./effect-calls.ts";
export type { OpenOptions, SpawnOptions } from "./options.ts";
export { type ApplyTreeOptions, supervisor, type TreeDefinition, worker } from "./trees.ts";
