/** Queries that only read: from the projections, the log and the spools. */
import { Effect } from "effect";
import { movedOf } from "../../actors/intake/moved.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { runtimesOf, troubleOf } from "../../actors/runtimes.ts";
import { workspaceIn } from "../../actors/worker/workspaces.ts";
import type { Registry } from "../../adapters/registry.ts";
import { TURNS_SHOWN_MAX } from "../../base/limits.ts";
import { breakSentence } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { redactOnce } from "../../protocol/redact.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { FormerEpoch } from "../../store/history.ts";
import type { Views, WorkerRow } from "../../store/views.ts";
import { pausedBelow, pauseSuggestion } from "../../supervisor/holds/standing-still.ts";
import type { RuntimeApi, ShownParts } from "../api.ts";
import type { Core } from "../core.ts";
import { withDescendants } from "../descendants.ts";
import type { Heartbeats } from "../heartbeats.ts";
import type { WorkerInfo } from "../replies.ts";
import { asksForEnded, isSelected } from "../selecting.ts";
import type { Forest } from "../trees/forest.ts";
import { makeOutput } from "./output.ts";
import { placedOf } from "./placed.ts";
import { searchOf } from "./search.ts";
import { WorkerPresenter } from "./shown.ts";
import { makeUsage, subtreeUsage } from "./usage.ts";
import { deniedOf, runFindingsOf } from "./views.ts";
import { makeWatching } from "./watching.ts";
import { namesBelow, whySupervisor, whyWorker } from "./why.ts";

export interface QueryOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly registry: Registry;
  /** Milliseconds after which output of ended incarnations is moved out of the log; Infinity for never. */
  readonly retention_ms: number;
  /** Bytes of the log above which its oldest output is moved. Default: no bound. */
  readonly retention_bytes?: number | undefined;
}

export type Queries = Pick<
  RuntimeApi,
  | "epoch"
  | "resolve"
  | "list"
  | "placed"
  | "placeOf"
  | "stateOf"
  | "info"
  | "tree"
  | "usage"
  | "why"
  | "follow"
  | "watch"
  | "search"
  | "output"
  | "raw"
  | "capabilities"
  | "refused"
  | "status"
  | "check"
  | "rebuild"
  | "gc"
>;

/** `isOver`: the runtime has ended, so readers of the live tail have nothing to wait for. */
export const makeQueries = (
  core: Core,
  forest: Pick<Forest, "trees" | "treeOf">,
  heartbeats: Heartbeats,
  options: QueryOptions,
  isOver: () => boolean,
): Queries => {
  const { find, wallMs } = core;
  const { log, views, upkeep } = core.services;
  const shown = new WorkerPresenter(core, forest, heartbeats);
  const { posix } = core.services.spawner;
  /** Processes that began a moment ago count too. */
  const looked = <A>({ resources }: ShownParts, view: () => A): Effect.Effect<A, HoldfastError> =>
    resources && posix !== undefined
      ? Effect.andThen(
          Effect.promise(() => posix.look()),
          attempt(view),
        )
      : attempt(view);
  return {
    epoch: log.epoch,
    resolve: (ref) => Effect.map(find(ref), (row) => row.id),
    list: ({ all = false, resources, below, ...filter } = {}) =>
      Effect.flatMap(below === undefined ? Effect.undefined : find(below), (top) =>
        looked({ resources }, () =>
          rowsOf(views, all || asksForEnded(filter), top)
            .filter((row) => isSelected(row, filter))
            .map((row) => shown.view(row, { resources })),
        ),
      ),
    placed: placedOf(core),
    placeOf: (id) => views.worker(id)?.spec.placed,
    stateOf: (id) => views.worker(id)?.state,
    info: (ref, parts = {}) =>
      Effect.flatMap(find(ref), (row) => looked(parts, () => infoOf(core, shown, row, parts))),
    tree: () => attempt(() => shown.tree()),
    usage: makeUsage(core, forest),
    why: (ref) => whyOf(core, forest, shown, ref),
    search: searchOf(core),
    ...makeWatching(core, isOver),
    ...makeOutput(core),
    refused: options.registry.refused,
    capabilities: capabilitiesOf(core, options.registry),
    status: statusOf(core, heartbeats, options),
    check: () => attemptAsync(() => upkeep.checkAside()),
    gc: ({ older_than_ms = options.retention_ms, max_bytes = options.retention_bytes, ...how } = {}) =>
      attemptAsync(() => upkeep.gc({ ...how, before_ms: wallMs() - older_than_ms, max_bytes })),
    rebuild: () => attemptAsync(() => upkeep.rebuildAside()),
  };
};

/** The workers of a list in the order of ids: all of them, or those below one. */
const rowsOf = (
  views: Pick<Views, "workers" | "living" | "worker" | "spawnedBy">,
  withEnded: boolean,
  top: WorkerRow | undefined,
): readonly WorkerRow[] => {
  if (top === undefined) return withEnded ? views.workers() : views.living();
  return withDescendants(views, [top.id])
    .slice(1)
    .toSorted()
    .flatMap((id) => views.worker(id) ?? [])
    .filter((row) => withEnded || !isEnded(row.state));
};

const infoOf = (
  { services, accounts }: Core,
  shown: WorkerPresenter,
  row: WorkerRow,
  parts?: ShownParts,
): WorkerInfo => {
  const { log, views, workerDir } = services;
  redactOnce(row.spec);
  return {
    ...shown.view(row, parts),
    spec: row.spec,
    completion: row.completion,
    budgets: accounts.views(row.id),
    ...subtreeUsage(views, row),
    turn_list: views.turns(row.id, TURNS_SHOWN_MAX),
    run_dir: row.incarnation === 0 ? null : `${workerDir(row.id)}/${row.incarnation}`,
    ...runFindingsOf(log, row.id),
    workspace: row.spec.worktree === undefined ? null : (workspaceIn(log, row.id) ?? null),
    last_seq: row.last_seq,
    last_event_at: row.last_event_at,
    // Only output of ended incarnations is ever moved.
    moved_output: row.incarnation > 1 || isEnded(row.state) ? movedOf(log, row.id) : null,
    window: shown.windowNow(row),
  };
};

const whyOf = (
  { find, accounts, services }: Core,
  forest: Pick<Forest, "treeOf">,
  shown: WorkerPresenter,
  ref: string,
): ReturnType<RuntimeApi["why"]> =>
  Effect.gen(function* () {
    const { log } = services;
    const found = forest.treeOf(ref)?.state();
    const state = found?.supervisors.get(ref);
    if (found !== undefined && state !== undefined) {
      const decisions = yield* attempt(() => whySupervisor(log, found, ref));
      const running = yield* attempt(() => shown.standingBelow(found, ref));
      const asks = accounts.views(ref).some(({ question_id }) => question_id !== undefined);
      return {
        id: ref,
        name: ref,
        type: "supervisor",
        state: state.phase,
        reason: pausedBelow(running) ?? state.reason,
        suggestion: pauseSuggestion(ref, asks, running) ?? null,
        ...decisions,
        names: namesBelow(state),
      };
    }
    const row = yield* find(ref);
    const tree = forest.treeOf(row.supervisor)?.state();
    const decisions = yield* attempt(() => whyWorker(log, row.id, row.supervisor, tree));
    // While its runtime is down, nothing that the log says of a living worker is fresh.
    const troubled = isEnded(row.state) ? undefined : troubleOf(services, row.spec);
    return {
      id: row.id,
      name: row.name,
      type: "worker",
      state: row.state,
      reason: troubled?.message ?? shown.reasonOf(row),
      suggestion: troubled?.suggestion ?? shown.suggestionFor(row) ?? null,
      ...deniedOf(row),
      ...decisions,
      names: row.name === null ? {} : { [row.id]: row.name },
    };
  });

const capabilitiesOf =
  (core: Core, registry: Registry): RuntimeApi["capabilities"] =>
  (kind) =>
    Effect.map(
      kind === undefined ? Effect.succeed(registry.all) : Effect.map(core.adapterOf(kind), (one) => [one]),
      (found) =>
        found.map((one) => ({
          kind: one.kind,
          aliases: one.aliases,
          summary: one.summary,
          capabilities: one.capabilities,
          binary: registry.binaryOf(one),
          variable: one.binary?.variable ?? null,
          origin: registry.isBuiltIn(one.kind) ? ("built_in" as const) : ("user" as const),
          module: registry.moduleOf(one.kind),
          variables: one.credentials,
          default_restart: one.default_restart,
        })),
    );

const statusOf = (core: Core, heartbeats: Heartbeats, options: QueryOptions): RuntimeApi["status"] => {
  const { log, views, spawner, tampered = new Set() } = core.services;
  const { live } = core.roster;
  const started_at = new Date(core.wallMs()).toISOString();
  return () =>
    attempt(() => {
      const { rss, heapUsed } = process.memoryUsage();
      return {
        version: options.version,
        pid: process.pid,
        node: process.version,
        store_id: log.store_id,
        epoch: log.epoch,
        restored: restoredOf(log.former.at(-1)),
        state_dir: options.state_dir,
        started_at,
        head: log.head(),
        store_error: errorOf(log.trouble()),
        workers: {
          live: live.size,
          total: views.countWorkers(),
          polled: spawner.posix?.polled() ?? 0,
          tampered: [...tampered].filter((id) => live.has(id)).length,
          heartbeats: heartbeats.late(),
        },
        runtimes: runtimesOf(core.services).map(([name, runtime]) => ({
          name,
          backend_kind: runtime.backend_kind,
          trouble: runtime.trouble?.() ?? null,
        })),
        disk: core.disk.view(),
        rss_bytes: rss,
        heap_bytes: heapUsed,
      };
    });
};

const restoredOf = (ended: FormerEpoch | undefined) =>
  ended === undefined ? null : { at: new Date(ended.ended_ms).toISOString(), sentence: breakSentence(ended) };

const errorOf = (trouble: HoldfastError | undefined) =>
  trouble === undefined
    ? null
    : { code: trouble.code, message: trouble.message, suggestion: trouble.suggestion };
