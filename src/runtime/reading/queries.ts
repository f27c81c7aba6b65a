/** Questions that only read: answered from the projections, the log and the spools. */
import { join } from "node:path";
import { Effect, Stream } from "effect";
import { movedOf } from "../../actors/intake/moved.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { workspaceIn } from "../../actors/worker/workspaces.ts";
import type { Registry } from "../../adapters/registry.ts";
import { TURNS_SHOWN_MAX } from "../../base/limits.ts";
import { breakSentence } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import { isEnded } from "../../protocol/worker.ts";
import { WAITS_FOR_MESSAGE } from "../../protocol/worker-status.ts";
import type { FormerEpoch } from "../../store/history.ts";
import type { WorkerRow } from "../../store/port.ts";
import { queueReason } from "../../supervisor/admission/seats.ts";
import { pauseSentence } from "../../supervisor/holds/pause.ts";
import {
  grantStep,
  pausedBelow,
  pauseSuggestion,
  type Standing,
} from "../../supervisor/holds/standing-still.ts";
import { type TreeState, workersBelow } from "../../supervisor/tree/state.ts";
import type { RuntimeApi, WatchQuery } from "../api.ts";
import type { Core } from "../core.ts";
import { Follower } from "../following/follower.ts";
import { Tail } from "../following/tail.ts";
import { type Follow, followLines, seqOf, tailOf } from "../following/watch.ts";
import type { PauseView, WorkerView } from "../replies.ts";
import type { Forest } from "../trees/forest.ts";
import { makePrinted } from "./printed.ts";
import { makeUsage, subtreeUsage } from "./usage.ts";
import { deniedOf, runFindingsOf, supervisorWindow, treeOf, viewOf, windowOf, withFibers } from "./views.ts";
import { namesBelow, whySupervisor, whyWorker } from "./why.ts";

export interface QueryOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly registry: Registry;
  /** Output of ended incarnations leaves the log after this; Infinity keeps it for ever. */
  readonly retention_ms: number;
  /** And where the log takes more than this. */
  readonly retention_bytes?: number | undefined;
}

export type Queries = Pick<
  RuntimeApi,
  | "epoch"
  | "resolve"
  | "list"
  | "info"
  | "tree"
  | "usage"
  | "why"
  | "follow"
  | "watch"
  | "output"
  | "raw"
  | "capabilities"
  | "refused"
  | "status"
  | "check"
  | "rebuild"
  | "gc"
>;

/** `isOver`: the runtime has ended, and readers of the live tail have nothing to wait for. */
export const makeQueries = (
  core: Core,
  forest: Pick<Forest, "trees" | "treeOf">,
  options: QueryOptions,
  isOver: () => boolean,
): Queries => {
  const { find, monoMs, wallMs } = core;
  const { log, spawner, tampered = new Set() } = core.services;
  const { live } = core.roster;
  const { registry } = options;
  const startedAt = new Date(wallMs()).toISOString();

  /** A worker of a file counts in the window of its supervisor. */
  const windowNow = (row: WorkerRow) => {
    const above = forest.treeOf(row.supervisor)?.state().supervisors.get(row.supervisor);
    return above === undefined ? ofItsOwn(row) : supervisorWindow(above, monoMs());
  };
  const ofItsOwn = (row: WorkerRow) => windowOf(row, live.get(row.id)?.child().restarts ?? [], monoMs());
  /** With what its row has not: its place in the queue as it is now, the question that it stands at, why it stands still. */
  const shown = (row: WorkerRow): WorkerView => {
    const view = viewOf(row);
    if (isEnded(row.state)) return view;
    const queue = core.admission.placeOf(row.id);
    const approvals = live.get(row.id)?.approvals?.waiting() ?? 0;
    return {
      ...view,
      reason: reasonOf(row),
      ...(approvals === 0 ? {} : { approvals }),
      ...(queue === undefined ? {} : { queue }),
      ...pausedOf(row.id),
      ...askedBy(row.id),
    };
  };
  /** The question that a living worker stands at. */
  const askedBy = (id: string): Pick<WorkerView, "question"> => {
    const worker = live.get(id);
    if (worker === undefined) return {};
    const { ladder, interrupted } = worker.child();
    const budget = core.accounts.spentFor(id)?.question_id;
    if (budget !== undefined) return { question: { question_id: budget, about: "budget" } };
    if (ladder.stage === "asked") return { question: { question_id: ladder.question_id, about: "stall" } };
    if (interrupted == null) return {};
    return { question: { question_id: interrupted.question_id, about: "interrupted" } };
  };
  const reasonOf = ({ id, kind, reason }: WorkerRow): string => {
    if (core.services.adapterFor(kind) === undefined)
      return `kind ${kind} is not loaded, and what it prints is not read: see agent doctor`;
    const queue = core.admission.placeOf(id);
    if (queue !== undefined) return queueReason(queue);
    const approvals = live.get(id)?.approvals?.waiting() ?? 0;
    if (approvals > 0)
      return `it waits for ${approvals === 1 ? "a permission" : `${approvals} permissions`}: agent approvals`;
    if (core.accounts.isWaiting(id)) return `waits: ${core.accounts.spentFor(id)?.sentence}`;
    const worker = live.get(id);
    const { due_ms: due = null, rate_limits = 0 } = worker?.child() ?? {};
    if (rate_limits > 0 && due !== null)
      return `rate limited until ${new Date(wallMs() + due - monoMs()).toISOString()}`;
    const pause = worker?.child().pause;
    if (pause !== undefined && pause.causes.length > 0) return pauseSentence(pause);
    if (worker?.child().ladder.stage === "asked") return "it may be stuck, and somebody is asked";
    return worker?.mail?.isWaiting() === true ? WAITS_FOR_MESSAGE : reason;
  };
  const standing = (id: string): readonly Standing[] => {
    const child = live.get(id)?.child();
    return child?.open === true ? [{ ref: log.worker(id)?.name ?? id, causes: child.pause.causes }] : [];
  };
  const suggestionFor = ({ id, name }: WorkerRow): string | undefined => {
    const { about } = askedBy(id).question ?? {};
    if (about === "interrupted")
      return `say whether it goes on: agent answer ${name ?? id} continue|fresh|stop`;
    if (about === "stall") return `say what becomes of it: agent answer ${name ?? id} wait|restart|kill`;
    // Before a turn that the budget has no room for it waits, and is not paused.
    const otherwise = about === "budget" ? grantStep(name ?? id) : undefined;
    return pauseSuggestion(name ?? id, true, standing(id)) ?? otherwise;
  };
  const standingBelow = (tree: TreeState, path: string) =>
    workersBelow(tree, path).flatMap(({ child }) => standing(child.worker_id));
  const pausedOf = (id: string): { readonly paused?: readonly PauseView[] } => {
    const causes = live.get(id)?.child().pause.causes ?? [];
    return causes.length === 0 ? {} : { paused: causes };
  };
  /** Workers that live or belong to a tree, and what the agents of the living have asked for, though it has ended. */
  const inTree = (): readonly WorkerRow[] => {
    const rows = new Map(log.living().map((row) => [row.id, row]));
    const add = (id: string): void => {
      const row = rows.has(id) ? undefined : log.worker(id);
      if (row !== undefined) rows.set(id, row);
    };
    for (const tree of forest.trees())
      for (const { children } of tree.state().supervisors.values())
        for (const { worker_id } of children) if (worker_id !== null) add(worker_id);
    for (const id of live.keys()) for (const spawned of log.spawnedBy(id)) add(spawned);
    return [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  };
  const runDir = (row: WorkerRow) =>
    row.incarnation === 0 ? null : join(spawner.workerDir(row.id), String(row.incarnation));

  const followOf = (query: WatchQuery): Effect.Effect<Follow, HoldfastError> =>
    Effect.gen(function* () {
      const ids =
        query.ids === undefined
          ? undefined
          : yield* Effect.forEach(query.ids, (ref) => Effect.map(find(ref), (row) => row.id));
      const since = yield* attempt(() =>
        query.from === undefined
          ? query.since_ms === undefined
            ? undefined
            : log.seqAt(wallMs() - query.since_ms) - 1
          : seqOf(log, query.from),
      );
      const filter = { ...query.filter, ...(ids === undefined ? {} : { worker_ids: ids }) };
      const from =
        query.tail === undefined ? (since ?? log.head()) : yield* tailOf(log, filter, since ?? 0, query.tail);
      const haveEnded = () => (ids ?? []).every((id) => isEnded((log.worker(id) as WorkerRow).state));
      return {
        from,
        filter,
        until: query.until,
        isOver: () => !query.follow && haveEnded(),
        isCut: isOver,
      };
    });
  const tail = new Tail(log, monoMs);
  const follow: RuntimeApi["follow"] = (query, take) =>
    Effect.flatMap(followOf(query), (what) =>
      Effect.callback<number, HoldfastError>((resume) => {
        const follower = new Follower(log, tail, what, take, {
          onOver: (next) => resume(Effect.succeed(next)),
          onFailure: (error) => resume(Effect.fail(error)),
        });
        follower.wake();
        return Effect.sync(() => follower.stop());
      }),
    );

  return {
    epoch: log.epoch,
    resolve: (ref) => Effect.map(find(ref), (row) => row.id),
    list: (how = {}) => attempt(() => (how.all === true ? log.workers() : log.living()).map(shown)),
    info: (ref) =>
      Effect.flatMap(find(ref), (row) =>
        attempt(() => ({
          ...shown(row),
          spec: row.spec,
          completion: row.completion,
          budgets: core.accounts.views(row.id),
          ...subtreeUsage(log, row),
          turn_list: log.turns(row.id, TURNS_SHOWN_MAX),
          run_dir: runDir(row),
          ...runFindingsOf(log, row.id),
          workspace: row.spec.worktree === undefined ? null : (workspaceIn(log, row.id) ?? null),
          last_seq: row.last_seq,
          last_event_at: row.last_event_at,
          // Output of an incarnation that lives is never moved.
          moved_output: row.incarnation > 1 || isEnded(row.state) ? movedOf(log, row.id) : null,
          window: windowNow(row),
        })),
      ),
    tree: () =>
      attempt(() =>
        withFibers(
          core.roster.fibers(),
          treeOf(
            inTree().map((row) => ({
              ...row,
              reason: reasonOf(row),
              ...pausedOf(row.id),
              ...askedBy(row.id),
            })),
            forest.trees().map((tree) => tree.state()),
            windowNow,
            (path) => core.accounts.views(path)[0],
            monoMs(),
          ),
        ),
      ),
    usage: makeUsage(core, forest),
    why: (ref) =>
      Effect.gen(function* () {
        const found = forest.treeOf(ref)?.state();
        const state = found?.supervisors.get(ref);
        if (found !== undefined && state !== undefined) {
          const decisions = yield* attempt(() => whySupervisor(log, found, ref));
          const running = yield* attempt(() => standingBelow(found, ref));
          const asks = core.accounts.views(ref).some(({ question_id }) => question_id !== undefined);
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
        return {
          id: row.id,
          name: row.name,
          type: "worker",
          state: row.state,
          reason: reasonOf(row),
          suggestion: suggestionFor(row) ?? null,
          ...deniedOf(row),
          ...decisions,
          names: row.name === null ? {} : { [row.id]: row.name },
        };
      }),
    follow,
    watch: (query) =>
      Stream.flattenIterable(
        Stream.map(Stream.unwrap(Effect.map(followOf(query), (what) => followLines(log, what))), (page) =>
          page.lines.map((line) => JSON.parse(line) as LogRecord),
        ),
      ),
    ...makePrinted(core),
    refused: registry.refused,
    capabilities: (kind) =>
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
      ),
    status: () =>
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
          started_at: startedAt,
          head: log.head(),
          store_error: errorOf(log.trouble()),
          workers: {
            live: live.size,
            total: log.countWorkers(),
            polled: spawner.polled(),
            tampered: [...tampered].filter((id) => live.has(id)).length,
          },
          disk: core.disk.view(),
          rss_bytes: rss,
          heap_bytes: heapUsed,
        };
      }),
    check: () => attemptAsync(() => log.checkAside()),
    gc: ({ older_than_ms = options.retention_ms, max_bytes = options.retention_bytes, ...how } = {}) =>
      attemptAsync(() => log.gc({ ...how, before_ms: wallMs() - older_than_ms, max_bytes })),
    rebuild: () => attemptAsync(() => log.rebuildAside()),
  };
};

const restoredOf = (ended: FormerEpoch | undefined) =>
  ended === undefined ? null : { at: new Date(ended.ended_ms).toISOString(), sentence: breakSentence(ended) };

const errorOf = (trouble: HoldfastError | undefined) =>
  trouble === undefined
    ? null
    : { code: trouble.code, message: trouble.message, suggestion: trouble.suggestion };
