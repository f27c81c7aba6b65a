/**
 * The runtime: one dynamic one_for_one supervisor over all workers and trees, and the facade that the daemon, the library and tests
 * use. It holds what lives (fibers, mailboxes, processes); what is true is in the log.
 */
import { constants } from "node:os";
import { Effect, type Scope } from "effect";
import type { Registry } from "../adapters/registry.ts";
import { crashPoint } from "../protocol/crash-point.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { RETENTION_DEFAULT_MS, SHUTDOWN_STOPS_MAX, WORKERS_LIVE_MAX } from "../protocol/limits.ts";
import { DAEMON_STREAM } from "../protocol/records.ts";
import { isEnded } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";
import { LIMITS, type Limits } from "./admission/seats.ts";
import { makeApprovals } from "./approvals/approvals.ts";
import { attempt } from "./attempt.ts";
import { recoverAll, retryRecovery, specOf } from "./boot/boot.ts";
import { tellEpoch } from "./boot/epochs.ts";
import { watchOrphans } from "./boot/orphans.ts";
import { startKindOf } from "./boot/start-kind.ts";
import { forkTicks, rememberGaps } from "./clocks/ticks.ts";
import { makeCore } from "./core.ts";
import { containing } from "./defects.ts";
import { withDescendants } from "./descendants.ts";
import type { KillOptions, RuntimeApi } from "./facade.ts";
import { makeAnswering } from "./messages/answering.ts";
import { makeMessaging, tellingLost } from "./messages/messaging.ts";
import { makePausing } from "./pauses/pausing-by-name.ts";
import { makeChanges } from "./reading/changes.ts";
import { makeQueries } from "./reading/queries.ts";
import { ofSupervisor, perWorker, waitOf } from "./reading/views.ts";
import type { PerWorker } from "./replies.ts";
import type { Services } from "./services.ts";
import { makeResuming } from "./sessions/resuming.ts";
import { askedSession } from "./sessions/sessions.ts";
import { containedTrace } from "./trace.ts";
import { findSupervisor, makeForest, notRunning, type Place } from "./tree/forest.ts";
import type { Tree } from "./tree/shell.ts";
import { supervisorOf } from "./tree/state.ts";
import { shutdownOrder } from "./worker/shutdown-order.ts";
import { makeSpawning } from "./worker/spawning.ts";

export interface RuntimeOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly registry: Registry;
  /** What is not given has its default. */
  readonly limits?: Partial<Limits>;
  readonly retention_ms?: number;
  readonly retention_bytes?: number | undefined;
}

/** What is not given has its default. */
const allLimits = ({ workers_max = WORKERS_LIVE_MAX }: Services, given?: Partial<Limits>): Limits => ({
  ...LIMITS,
  live_max: workers_max,
  running_max: workers_max,
  ...given,
});

export const makeRuntime = (
  given: Services,
  options: RuntimeOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const services = { ...given, trace: containedTrace(given.trace, given.defects) };
    const { all, suggestKind: suggest, isOutdated, refused } = options.registry;
    const kinds = { all, suggest, isOutdated, isPartial: refused.length > 0 };
    const core = yield* makeCore(services, kinds, allLimits(services, options.limits));
    const { roster, admission, commit, find, rowOf } = core;
    const { live } = roster;
    const forest = yield* makeForest(core);
    const { spawn, startAgain } = makeSpawning(core, forest);
    const resume = makeResuming(core, spawn);
    let over = false;

    /** The worker's row once it has ended. */
    const untilEnded = (id: string): Effect.Effect<WorkerRow, HoldfastError> =>
      Effect.gen(function* () {
        for (;;) {
          yield* roster.ended(id);
          const row = yield* rowOf(id);
          if (isEnded(row.state)) return row;
          // Somebody has started it again meanwhile: this is another life.
          if (live.has(id)) continue;
          // Held by its supervisor: the next decision about its tree may end it, or start it again.
          const tree = admission.isClosed() ? undefined : forest.treeWith(row);
          if (tree !== undefined) {
            yield* forest.next(tree);
            continue;
          }
          return yield* Effect.fail(
            admission.isClosed()
              ? new HoldfastError("UNAVAILABLE", `The runtime was shut down before worker ${id} ended.`)
              : unsupervised(id),
          );
        }
      });

    const unsupervised = (id: string) =>
      new HoldfastError(
        "INVALID_STATE",
        `Worker ${id} is not under supervision: the daemon could not take it over.`,
        {
          suggestion: "See why in its daemon.log, mend that, then: agent daemon upgrade --force",
        },
      );

    const killOne = (row: WorkerRow, how: KillOptions): Effect.Effect<PerWorker, HoldfastError> =>
      Effect.gen(function* () {
        if (isEnded(row.state)) return perWorker(row, "noop");
        const worker = live.get(row.id);
        const tree = forest.treeWith(row);
        if (worker === undefined && tree === undefined) return perWorker(yield* untilEnded(row.id), "noop");
        if (how.dry_run === true) return perWorker(row, "would_delete");
        const { by = "user", reason = "killed", grace_ms = row.spec.grace_ms, signal = "SIGTERM" } = how;
        const input = { type: "kill", by, reason, grace_ms, signal } as const;
        // One that its supervisor holds has no shell to tell.
        if (worker !== undefined) yield* worker.input(input);
        else if (tree !== undefined) yield* tree.input({ type: "worker", worker_id: row.id, input });
        return perWorker(yield* untilEnded(row.id), "deleted");
      });

    /** Kills a supervisor with all below it, and stays for its end. */
    const killSupervisor = ({ tree, supervisor }: Place, how: KillOptions) =>
      Effect.gen(function* () {
        const phaseNow = () => tree.state().supervisors.get(supervisor);
        if (how.dry_run === true) return ofSupervisor(supervisor, "would_delete", "running");
        const before = phaseNow();
        if (before?.tombstone === true && before.phase === "terminated")
          return ofSupervisor(supervisor, "noop", "cancelled");
        const { by = "user", reason = "killed", grace_ms, signal } = how;
        const asked = {
          ...(grace_ms !== undefined && { grace_ms }),
          ...(signal !== undefined && { signal }),
        };
        const isAsked = Object.keys(asked).length > 0;
        yield* forest.ask(tree, supervisor, "kill", by, reason, isAsked ? asked : undefined);
        for (;;) {
          const phase = phaseNow()?.phase ?? "terminated";
          if (phase === "terminated" || phase === "parked") break;
          yield* forest.next(tree);
        }
        return ofSupervisor(supervisor, "deleted", "cancelled");
      });

    const each = (
      refs: readonly string[],
      one: (row: WorkerRow) => Effect.Effect<PerWorker, HoldfastError>,
      ofTree?: (place: Place) => Effect.Effect<PerWorker, HoldfastError>,
    ): Effect.Effect<readonly PerWorker[]> =>
      Effect.forEach(
        refs,
        (ref) =>
          Effect.catch(
            Effect.suspend(() => {
              const place = ofTree === undefined ? undefined : findSupervisor(forest, ref);
              return place === undefined || ofTree === undefined
                ? Effect.flatMap(find(ref), one)
                : ofTree(place);
            }),
            ({ code, message, suggestion }) =>
              Effect.succeed<PerWorker>({
                id: ref,
                name: null,
                ok: false,
                effect: "noop",
                status: null,
                error: { code, message, suggestion },
              }),
          ),
        { concurrency: "unbounded" },
      );

    const kill: RuntimeApi["kill"] = (how) =>
      Effect.gen(function* () {
        const { signal } = how;
        if (signal !== undefined && !Object.hasOwn(constants.signals, signal)) {
          return yield* Effect.fail(
            new HoldfastError("INVALID_REQUEST", `There is no signal "${signal}".`, {
              suggestion: "Use a name such as SIGTERM or SIGINT.",
            }),
          );
        }
        // Trees first, each as a whole: what is stopped under a supervisor that goes on would be started again.
        const all = () => [
          ...forest.trees().map(({ name }) => name),
          ...[...live.values()].filter(({ spec }) => spec.supervisor === "root").map(({ id }) => id),
        ];
        const refs = how.all === true ? all() : how.ids;
        if (how.subtree !== true || refs.every((ref) => findSupervisor(forest, ref) !== undefined))
          return yield* each(
            refs,
            (row) => killOne(row, how),
            (place) => killSupervisor(place, how),
          );
        const roots = yield* Effect.forEach(refs, find);
        const replies = new Map<string, PerWorker>();
        // Again until nothing is new: a spawn that was on its way is in the log by now.
        for (;;) {
          const all = yield* attempt(() =>
            withDescendants(
              services.log,
              roots.map(({ id }) => id),
            ),
          );
          const found = all.filter((id) => !replies.has(id));
          if (found.length === 0) return [...replies.values()];
          for (const reply of yield* each(found, (row) => killOne(row, how))) replies.set(reply.id, reply);
        }
      });

    const restart: RuntimeApi["restart"] = (ids) =>
      each(ids, restartOne, ({ tree, supervisor }) =>
        Effect.as(
          forest.ask(tree, supervisor, "restart", "user", ""),
          ofSupervisor(supervisor, "updated", "starting"),
        ),
      );

    const restartOne = (row: WorkerRow): Effect.Effect<PerWorker, HoldfastError> =>
      Effect.gen(function* () {
        if (admission.placeOf(row.id) !== undefined) return perWorker(row, "noop");
        // Before it is stopped, or started by its supervisor, which could only fail then.
        yield* core.adapterOf(row.kind);
        const spent = yield* attempt(() => core.accounts.spentFor(row.id));
        if (spent !== undefined) return yield* Effect.fail(spentRefusal(row, spent));
        const taken = yield* sessionRefusal(row);
        if (taken !== undefined) return yield* Effect.fail(taken);
        const tree = forest.treeWith(row);
        if (tree !== undefined) {
          yield* restartMember(tree, row);
          return perWorker(yield* rowOf(row.id), "updated");
        }
        const worker = live.get(row.id);
        if (worker !== undefined) {
          yield* worker.input({ type: "restart", by: "user", grace_ms: worker.spec.grace_ms });
          const { state, stop } = worker.child();
          if (!isEnded(state) && stop?.kind !== "kill") return perWorker(yield* rowOf(row.id), "updated");
        }
        yield* startAgain(yield* untilEnded(row.id));
        return perWorker(yield* rowOf(row.id), "updated");
      });

    /** Somebody else goes on in the session of what has ended. */
    const sessionRefusal = (row: WorkerRow): Effect.Effect<HoldfastError | undefined, HoldfastError> =>
      Effect.gen(function* () {
        const adapter = services.adapterFor(row.kind);
        if (adapter?.sessions_under === undefined || !isEnded(row.state)) return undefined;
        const { spec } = yield* specOf(services, row);
        return core.sessions.refusal({ id: row.id, spec, adapter }, row.session_id ?? askedSession(spec));
      });

    /** Its supervisor must run: what is started under one that does not would be stopped again. */
    const restartMember = (tree: Tree, row: WorkerRow) =>
      tree.change((state) => {
        const { path, phase } = supervisorOf(state, row.supervisor);
        if (phase !== "running" && phase !== "starting" && phase !== "restarting")
          return Effect.fail(notRunning(path, phase));
        const input = { type: "restart", by: "user", grace_ms: row.spec.grace_ms } as const;
        return Effect.succeed({ type: "worker", worker_id: row.id, input } as const);
      });

    const { pause, unpause } = makePausing(core, each);
    const answer = makeAnswering(core, forest);
    const { changes, removeWorktrees } = makeChanges(core, each);

    const applyTree: RuntimeApi["applyTree"] = (spec, { dry_run = false, by = "user" } = {}) =>
      Effect.suspend(() =>
        admission.isClosed()
          ? Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime is shutting down."))
          : forest.apply(spec, { dry_run, by }),
      );

    const downTree: RuntimeApi["downTree"] = (name, { by = "user", file } = {}) =>
      Effect.gen(function* () {
        const tree = forest.trees().find((one) => one.name === name);
        if (tree === undefined)
          return yield* Effect.fail(
            new HoldfastError("WORKER_NOT_FOUND", `No tree is called "${name}".`, {
              suggestion: "See the trees with `agent tree`.",
            }),
          );
        const owner = tree.state().file;
        if (file !== undefined && file !== owner)
          return yield* Effect.fail(
            new HoldfastError("ALREADY_EXISTS", `The tree "${name}" belongs to ${owner}.`, {
              suggestion: `Take it down by its name: \`agent down ${name}\`.`,
            }),
          );
        const paths = [...tree.state().members.values()].map(({ path }) => path);
        yield* forest.ask(tree, name, "down", by, "");
        while (forest.trees().includes(tree)) yield* forest.next(tree);
        return {
          tree: name,
          changes: paths.map((path) => ({
            path,
            action: "remove" as const,
            reason: "its tree was taken down",
          })),
          state: "terminated" as const,
        };
      });

    const wait: RuntimeApi["wait"] = (refs, timeoutMs) =>
      Effect.gen(function* () {
        const rows = yield* Effect.forEach(refs, find);
        const all = Effect.forEach(rows, (row) => Effect.map(untilEnded(row.id), waitOf), {
          concurrency: "unbounded",
        });
        if (timeoutMs === undefined) return yield* all;
        const tooLong = () =>
          Effect.fail(
            new HoldfastError(
              "TIMEOUT",
              "Not all of the workers ended within the time given; they go on running.",
              {
                suggestion: "Wait longer with --timeout, or look at them with `agent watch`.",
                details: { running: rows.filter((row) => live.has(row.id)).map((row) => row.id) },
              },
            ),
          );
        return yield* Effect.timeoutOrElse(all, { duration: timeoutMs, orElse: tooLong });
      });

    /** What cannot be stopped or recorded does not keep the others from it; the first failure is told at the end. */
    const shutdown: RuntimeApi["shutdown"] = (agents, reason) =>
      Effect.gen(function* () {
        yield* admission.close;
        const failures: HoldfastError[] = [];
        const tried = (step: Effect.Effect<unknown, HoldfastError>) =>
          Effect.catch(step, (error) => Effect.sync(() => void failures.push(error)));
        if (agents === "kill") {
          for (const { name } of forest.trees()) yield* tried(downTree(name, { by: "daemon" }));
          const stop = ({ id }: { readonly id: string }) =>
            tried(Effect.flatMap(rowOf(id), (row) => killOne(row, { ids: [], by: "daemon", reason })));
          for (const wave of shutdownOrder(live.values()))
            yield* Effect.forEach(wave, stop, { concurrency: SHUTDOWN_STOPS_MAX, discard: true });
        }
        yield* roster.clear;
        crashPoint("shutdown");
        over = true;
        yield* tried(commit([{ type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason } }]));
        if (failures[0] !== undefined) yield* Effect.fail(failures[0]);
      });

    const start = yield* attempt(() =>
      startKindOf(services.log.daemonStream(["daemon_started", "daemon_stopped"]), services.boot_id),
    );
    yield* tellEpoch(core);
    yield* commit([
      {
        type: "daemon_started",
        stream: DAEMON_STREAM,
        payload: {
          start,
          version: options.version,
          pid: process.pid,
          node: process.version,
          clock: core.now().clock,
        },
      },
    ]);
    yield* rememberGaps(core);
    const ofTrees = yield* forest.recover;
    const missing = yield* recoverAll(core, (id) => ofTrees.has(id));
    yield* forkTicks(core);
    yield* Effect.forkScoped(
      containing(services.defects, "looking up again what a boot could not", retryRecovery(core, missing)),
    );
    yield* Effect.forkScoped(forest.reconciling);
    yield* Effect.forkScoped(watchOrphans(core));

    const queries = makeQueries(core, forest, { retention_ms: RETENTION_DEFAULT_MS, ...options }, () => over);
    const approvals = makeApprovals(core);
    const { tellLost, ...messaging } = makeMessaging(core, queries.watch);
    yield* tellLost;
    yield* Effect.forkScoped(tellingLost(tellLost, services));
    return {
      ...queries,
      ...messaging,
      spawn,
      resume,
      applyTree,
      downTree,
      kill,
      restart,
      pause,
      unpause,
      changes,
      removeWorktrees,
      answer,
      ...approvals,
      wait,
      shutdown,
    };
  });

const spentRefusal = (
  { id }: WorkerRow,
  { sentence, question_id }: { readonly sentence: string; readonly question_id?: string },
): HoldfastError =>
  new HoldfastError("BUDGET_EXCEEDED", `Worker ${id} cannot be started: ${sentence}.`, {
    suggestion:
      question_id === undefined
        ? "Raise the budget in its file and run `agent up`, or spawn it anew with more."
        : `Grant as much again with \`agent answer ${id} continue\`.`,
  });
