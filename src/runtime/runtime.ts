/**
 * The runtime: one dynamic one_for_one supervisor over all workers and trees, and the facade that the daemon, the library and tests
 * use. It holds what lives (fibers, mailboxes, processes); what is true is in the log.
 */
import { constants } from "node:os";
import { Effect, type Scope } from "effect";
import { containing } from "../actors/defects.ts";
import { attempt } from "../actors/machine/attempt.ts";
import type { Services } from "../actors/ports.ts";
import { containedTrace } from "../actors/trace.ts";
import type { Registry } from "../adapters/registry.ts";
import { crashPoint } from "../base/crash-point.ts";
import { RETENTION_DEFAULT_MS, SHUTDOWN_STOPS_MAX, WORKERS_LIVE_MAX } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { DAEMON_STREAM } from "../protocol/records.ts";
import { isEnded } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";
import { LIMITS, type Limits } from "../supervisor/admission/seats.ts";
import { startKindOf } from "../supervisor/boot/start-kind.ts";
import { shutdownOrder } from "../supervisor/restart/shutdown-order.ts";
import { askedSession } from "../supervisor/sessions/asked-session.ts";
import { startRefusal } from "../supervisor/tree/refusals.ts";
import type { Asking, KillOptions, RuntimeApi } from "./api.ts";
import { asker, askerOfAll } from "./authority/asker.ts";
import { recoverAll, retryRecovery, specOf, untaken } from "./boot/boot.ts";
import { tellEpoch } from "./boot/epochs.ts";
import { watchOrphans } from "./boot/orphans.ts";
import { makeSettled } from "./boot/settled.ts";
import { makeAnswering } from "./commands/answers.ts";
import { makeApprovals } from "./commands/approvals.ts";
import { killAll } from "./commands/kill.ts";
import { makeMessaging, tellingLost } from "./commands/messages.ts";
import { makePausing } from "./commands/pause.ts";
import { makeResuming } from "./commands/resume.ts";
import { makeSpawning } from "./commands/spawn.ts";
import { makeCore } from "./core.ts";
import { withDescendants } from "./descendants.ts";
import { makeChanges } from "./reading/changes.ts";
import { makeQueries } from "./reading/queries.ts";
import { checkedBy, nothingDone, ofSupervisor, perWorker } from "./reading/views.ts";
import { tooLong, waitOf } from "./reading/waited.ts";
import type { PerWorker } from "./replies.ts";
import { spentRefusal } from "./spent-refusal.ts";
import { forkTicks, rememberGaps } from "./ticks.ts";
import { findSupervisor, makeForest, type Place } from "./trees/forest.ts";
import type { Tree } from "./trees/shell.ts";

export interface RuntimeOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly registry: Registry;
  /** A field that is not given has its default. */
  readonly limits?: Partial<Limits>;
  readonly retention_ms?: number;
  readonly retention_bytes?: number | undefined;
}

/** A field that is not given has its default. */
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
    const { roster, admission, authority, commit, find, rowOf } = core;
    const { live } = roster;
    const forest = yield* makeForest(core);
    const { spawn, startAgain } = makeSpawning(core, forest);
    const resume = makeResuming(core, spawn);
    /** The log's end when all was stopped: once there is more, `daemon_stopped` is in it. */
    let stoppedAt: number | undefined;
    const isOver = () => stoppedAt !== undefined && services.log.head() > stoppedAt;

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

    /** A kill is over with the life that it ends: somebody may have started the worker again since. */
    const untilKilled = (id: string): Effect.Effect<WorkerRow, HoldfastError> =>
      Effect.flatMap(roster.ended(id), () => (live.has(id) ? rowOf(id) : untilEnded(id)));

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
        const { reason = "killed", grace_ms = row.spec.grace_ms, signal = "SIGTERM" } = how;
        const by = yield* asker(authority.permit, how, "kill", row);
        const input = { type: "kill", by, reason, grace_ms, signal } as const;
        // One that its supervisor holds has no shell to tell.
        if (worker !== undefined) yield* worker.input(input);
        else if (tree !== undefined) yield* tree.input({ type: "worker", worker_id: row.id, input });
        const killed = perWorker(yield* untilKilled(row.id), "deleted");
        const checked_by = yield* attempt(() => checkedBy(services.log, row.id));
        return checked_by === undefined ? killed : { ...killed, checked_by };
      });

    /** Kills a supervisor with all below it, and stays for its end. */
    const killSupervisor = ({ tree, supervisor }: Place, how: KillOptions) =>
      Effect.gen(function* () {
        const phaseNow = () => tree.state().supervisors.get(supervisor);
        if (how.dry_run === true) return ofSupervisor(supervisor, "would_delete", "running");
        const before = phaseNow();
        if (before?.tombstone === true && before.phase === "terminated")
          return ofSupervisor(supervisor, "noop", "cancelled");
        const { reason = "killed", grace_ms, signal } = how;
        const by = yield* asker(authority.permitOn, how, "kill", supervisor);
        const asked = {
          ...(grace_ms !== undefined && { grace_ms }),
          ...(signal !== undefined && { signal }),
        };
        const isAsked = Object.keys(asked).length > 0;
        yield* forest.ask(tree, supervisor, "kill", by, reason, isAsked ? asked : undefined);
        for (;;) {
          const { phase, tombstone = false } = phaseNow() ?? { phase: "terminated" };
          // Without a tombstone somebody has started it again since.
          if (phase === "terminated" || phase === "parked" || !tombstone) break;
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
            (error) => Effect.succeed(nothingDone(ref, error)),
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
        const { ids: refs } = how;
        const killEach = (some: readonly string[]) =>
          each(
            some,
            (row) => killOne(row, how),
            (place) => killSupervisor(place, how),
          );
        if (how.all === true) return yield* killAll({ forest, live, log: services.log }, killEach, how);
        if (how.subtree !== true || refs.every((ref) => findSupervisor(forest, ref) !== undefined))
          return yield* killEach(refs);
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

    const restart: RuntimeApi["restart"] = (ids, how = {}) =>
      each(
        ids,
        (row) => restartOne(row, how),
        ({ tree, supervisor }) =>
          Effect.gen(function* () {
            const by = yield* asker(authority.permitOn, how, "restart", supervisor);
            yield* forest.ask(tree, supervisor, "restart", by, "");
            return ofSupervisor(supervisor, "updated", "starting");
          }),
      );

    const restartOne = (row: WorkerRow, how: Asking): Effect.Effect<PerWorker, HoldfastError> =>
      Effect.gen(function* () {
        const by = yield* asker(authority.permit, how, "restart", row);
        if (admission.placeOf(row.id) !== undefined) return perWorker(row, "noop");
        // Before it is stopped, or started by its supervisor, which could only fail then.
        yield* core.adapterOf(row.kind);
        const spent = yield* attempt(() => core.accounts.spentFor(row.id));
        if (spent !== undefined) return yield* Effect.fail(spentRefusal(row, spent));
        const taken = yield* sessionRefusal(row);
        if (taken !== undefined) return yield* Effect.fail(taken);
        const tree = forest.treeWith(row);
        if (tree !== undefined) {
          yield* restartMember(tree, row, by);
          return perWorker(yield* rowOf(row.id), "updated");
        }
        const worker = live.get(row.id);
        if (worker !== undefined) {
          yield* worker.input({ type: "restart", by, grace_ms: worker.spec.grace_ms });
          const { state, stop } = worker.child();
          if (!isEnded(state) && stop?.kind !== "kill") return perWorker(yield* rowOf(row.id), "updated");
        }
        yield* startAgain(yield* untilEnded(row.id), by);
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
    const restartMember = (tree: Tree, row: WorkerRow, by: string) =>
      tree.change((state) => {
        const refused = startRefusal(state, row.supervisor);
        if (refused !== undefined) return Effect.fail(refused);
        const input = { type: "restart", by, grace_ms: row.spec.grace_ms } as const;
        return Effect.succeed({ type: "worker", worker_id: row.id, input } as const);
      });

    const { pause, unpause } = makePausing(core, each);
    const answer = makeAnswering(core, forest);
    const { changes, removeWorktrees } = makeChanges(core, each);

    const applyTree: RuntimeApi["applyTree"] = (spec, { dry_run = false, ...how } = {}) =>
      Effect.gen(function* () {
        if (admission.isClosed())
          return yield* Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime is shutting down."));
        const by = yield* askerOfAll(authority, how, "bring up a tree");
        return yield* forest.apply(spec, { dry_run, by });
      });

    const downTree: RuntimeApi["downTree"] = (name, { file, ...how } = {}) =>
      Effect.gen(function* () {
        const by = yield* askerOfAll(authority, how, "take a tree down");
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
        const waited = (id: string) => Effect.map(untilEnded(id), (row) => waitOf(row, core.now().wall));
        const all = Effect.forEach(rows, (row) => waited(row.id), { concurrency: "unbounded" });
        if (timeoutMs === undefined) return yield* all;
        const going = Effect.forEach(
          rows.filter((row) => live.has(row.id)),
          (row) =>
            Effect.map(rowOf(row.id), (now) => {
              const due = live.get(row.id)?.child().due_ms ?? null;
              return { row: now, due_in_ms: due === null ? null : due - core.monoMs() };
            }),
        );
        return yield* Effect.timeoutOrElse(all, {
          duration: timeoutMs,
          orElse: () => Effect.flatMap(going, (left) => Effect.fail(tooLong(left))),
        });
      });

    /**
     * A worker that cannot be stopped or recorded does not keep the others from it; the first failure is told at the end. If agents that were to be stopped still run, the runtime goes on with them: nobody else would.
     */
    const shutdown: RuntimeApi["shutdown"] = (agents, reason) =>
      Effect.gen(function* () {
        yield* admission.close;
        const failures: HoldfastError[] = [];
        const tried = (step: Effect.Effect<unknown, HoldfastError>) =>
          Effect.catch(step, (error) => Effect.sync(() => void failures.push(error)));
        if (agents === "kill") {
          const stop = ({ id }: { readonly id: string }) =>
            tried(Effect.flatMap(rowOf(id), (row) => killOne(row, { ids: [], by: "daemon", reason })));
          const asked = new Set<string>();
          const unasked = (ref: string): boolean => !asked.has(ref) && asked.add(ref).has(ref);
          // Again until nothing is new: what was let in before the door was closed may have begun meanwhile.
          for (;;) {
            const trees = forest.trees().filter(({ name }) => unasked(`tree ${name}`));
            for (const { name } of trees) yield* tried(downTree(name, { by: "daemon" }));
            const workers = [...live.values()].filter(({ id }) => unasked(id));
            if (trees.length === 0 && workers.length === 0) break;
            for (const wave of shutdownOrder(workers))
              yield* Effect.forEach(wave, stop, { concurrency: SHUTDOWN_STOPS_MAX, discard: true });
          }
          const running = [...live.values()].filter((worker) => worker.child().open).map(({ id }) => id);
          yield* tried(Effect.map(untaken(core), (ids) => void running.push(...ids)));
          if (running.length > 0) {
            admission.reopen();
            return yield* Effect.fail(stillRunning(running, failures[0]));
          }
        }
        yield* roster.clear;
        yield* forest.close;
        crashPoint("shutdown");
        stoppedAt = services.log.head();
        const stopped = { type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason } } as const;
        yield* tried(commit([stopped], { holds: true }));
        if (failures[0] !== undefined) yield* Effect.fail(failures[0]);
      });

    const start = yield* attempt(() =>
      startKindOf(services.log.daemonStream(["daemon_started", "daemon_stopped"]), services.boot_id),
    );
    yield* tellEpoch(core);
    const started = {
      start,
      version: options.version,
      pid: process.pid,
      node: process.version,
      clock: core.now().clock,
    };
    yield* commit([{ type: "daemon_started", stream: DAEMON_STREAM, payload: started }], { holds: true });
    yield* rememberGaps(core);
    const ofTrees = yield* forest.recover;
    const missing = yield* recoverAll(core, (id) => ofTrees.has(id));
    const settled = makeSettled(core);
    yield* forkTicks(core);
    yield* Effect.forkScoped(
      containing(services.defects, "looking up again what a boot could not", retryRecovery(core, missing)),
    );
    yield* Effect.forkScoped(forest.reconciling);
    yield* Effect.forkScoped(watchOrphans(core));

    const queries = makeQueries(core, forest, { retention_ms: RETENTION_DEFAULT_MS, ...options }, isOver);
    const approvals = makeApprovals(core);
    const { tellLost, ...messaging } = makeMessaging(core, queries.watch);
    yield* tellLost;
    yield* Effect.forkScoped(tellingLost(tellLost, services));
    return {
      ...queries,
      ...messaging,
      spawn,
      resume,
      identify: authority.identify,
      identifyIn: authority.identifyIn,
      permitAll: authority.permitAll,
      permitStart: authority.permitStart,
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
      settled,
      shutdown,
    };
  });

const stillRunning = (running: readonly string[], why: HoldfastError | undefined): HoldfastError =>
  new HoldfastError(
    "AGENTS_RUNNING",
    `${running.length === 1 ? "1 agent could" : `${running.length} agents could`} not be stopped, and the daemon goes on: ${running.join(", ")}. ${why?.message ?? ""}`.trim(),
    {
      suggestion:
        "See why with `agent why`, then stop the daemon again; `--keep-agents` ends it without them.",
      details: { running },
    },
  );
