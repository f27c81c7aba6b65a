/**
 * The runtime: one dynamic one_for_one supervisor over all workers, and the facade that the daemon, the library and tests
 * use. It holds what lives (fibers, mailboxes, processes); what is true is in the log.
 */
import { constants } from "node:os";
import { Effect, Schedule, type Scope } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import { CLOCK_TICK_MS } from "../protocol/limits.ts";
import { DAEMON_STREAM, type RecordDraft, workerStream } from "../protocol/records.ts";
import { isEnded } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";
import { attempt } from "./attempt.ts";
import { recoverAll } from "./boot.ts";
import { makeCore } from "./core.ts";
import type { KillOptions, RuntimeApi } from "./facade.ts";
import { makeQueries } from "./queries.ts";
import type { PerWorker } from "./replies.ts";
import type { Services } from "./services.ts";
import { shutdownOrder } from "./shutdown-order.ts";
import { makeSpawning } from "./spawning.ts";
import { perWorker, subtreeOf, waitOf } from "./views.ts";

export interface RuntimeOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly adapters: readonly AgentAdapter[];
  /** A sentence that names the nearest kind, for a mistyped one. */
  readonly suggestKind: (kind: string) => string | undefined;
}

export const makeRuntime = (
  services: Services,
  options: RuntimeOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const core = yield* makeCore(services, { all: options.adapters, suggest: options.suggestKind });
    const { roster, admission, commit, find, rowOf } = core;
    const { live } = roster;
    const { spawn, startAgain } = makeSpawning(core);
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
          suggestion: "See why in its daemon.log, mend that, then restart the daemon.",
        },
      );

    const killOne = (row: WorkerRow, how: KillOptions): Effect.Effect<PerWorker, HoldfastError> =>
      Effect.gen(function* () {
        if (isEnded(row.state)) return perWorker(row, "noop");
        const worker = live.get(row.id);
        if (worker === undefined) return perWorker(yield* untilEnded(row.id), "noop");
        if (how.dry_run === true) return perWorker(row, "would_delete");
        const { by = "user", reason = "killed", grace_ms = worker.spec.grace_ms, signal = "SIGTERM" } = how;
        yield* worker.input({ type: "kill", by, reason, grace_ms, signal });
        return perWorker(yield* untilEnded(row.id), "deleted");
      });

    const each = (
      refs: readonly string[],
      one: (row: WorkerRow) => Effect.Effect<PerWorker, HoldfastError>,
    ): Effect.Effect<readonly PerWorker[]> =>
      Effect.forEach(
        refs,
        (ref) =>
          Effect.catch(Effect.flatMap(find(ref), one), ({ code, message }) =>
            Effect.succeed<PerWorker>({
              id: ref,
              name: null,
              ok: false,
              effect: "noop",
              status: null,
              error: { code, message },
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
        const refs = how.all === true ? [...live.keys()] : how.ids;
        if (how.subtree !== true) return yield* each(refs, (row) => killOne(row, how));
        const roots = yield* Effect.forEach(refs, find);
        const replies = new Map<string, PerWorker>();
        // Again until nothing is new: a spawn that was on its way is in the log by now.
        for (;;) {
          const rows = yield* attempt(() => services.log.workers());
          const found = new Set(
            roots.flatMap((root) => subtreeOf(rows, root.id)).filter((id) => !replies.has(id)),
          );
          if (found.size === 0) return [...replies.values()];
          for (const reply of yield* each([...found], (row) => killOne(row, how)))
            replies.set(reply.id, reply);
        }
      });

    const restart: RuntimeApi["restart"] = (ids) =>
      each(ids, (row) =>
        Effect.gen(function* () {
          const worker = live.get(row.id);
          if (worker !== undefined) {
            yield* worker.input({ type: "restart", by: "user", grace_ms: worker.spec.grace_ms });
            const { state, stop } = worker.child();
            if (!isEnded(state) && stop?.kind !== "kill") return perWorker(yield* rowOf(row.id), "updated");
          }
          yield* startAgain(yield* untilEnded(row.id));
          return perWorker(yield* rowOf(row.id), "updated");
        }),
      );

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

    const send: RuntimeApi["send"] = (ref, text) =>
      Effect.gen(function* () {
        const row = yield* find(ref);
        const worker = live.get(row.id);
        if (worker === undefined)
          return yield* Effect.fail(
            new HoldfastError("INVALID_STATE", `Worker ${row.id} has ended; there is nobody to send to.`),
          );
        if (!worker.spec.interactive)
          return yield* Effect.fail(
            new HoldfastError("STDIN_CLOSED", `The stdin of worker ${row.id} was closed after its prompt.`),
          );
        const message_id = newId(core.wallMs());
        const message = (state: "accepted" | "delivered" | "undeliverable"): RecordDraft => ({
          type: "worker_message",
          stream: workerStream(row.id),
          worker_id: row.id,
          incarnation: row.incarnation,
          payload: { message_id, bytes: Buffer.byteLength(text), state },
        });
        yield* commit([message("accepted")]);
        yield* Effect.tapError(worker.send(text), () => commit([message("undeliverable")]));
        yield* commit([message("delivered")]);
        return { message_id, state: "delivered" as const };
      });

    /** What cannot be stopped or recorded does not keep the others from it; the first failure is told at the end. */
    const shutdown: RuntimeApi["shutdown"] = (agents, reason) =>
      Effect.gen(function* () {
        yield* admission.close;
        const failures: HoldfastError[] = [];
        const tried = (step: Effect.Effect<unknown, HoldfastError>) =>
          Effect.catch(step, (error) => Effect.sync(() => void failures.push(error)));
        if (agents === "kill") {
          for (const { id } of shutdownOrder(live.values())) {
            yield* tried(Effect.flatMap(rowOf(id), (row) => killOne(row, { ids: [], by: "daemon", reason })));
          }
        }
        yield* roster.clear;
        over = true;
        yield* tried(commit([{ type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason } }]));
        if (failures[0] !== undefined) yield* Effect.fail(failures[0]);
      });

    yield* commit([
      {
        type: "daemon_started",
        stream: DAEMON_STREAM,
        payload: {
          version: options.version,
          pid: process.pid,
          node: process.version,
          clock: core.now().clock,
        },
      },
    ]);
    yield* recoverAll(core);

    const tick = Effect.suspend(() =>
      Effect.forEach([...live.values()], (worker) => worker.tick(core.monoMs()), { discard: true }),
    );
    yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced(CLOCK_TICK_MS)));

    const queries = makeQueries(core, options, () => over);
    return { ...queries, spawn, kill, restart, wait, send, shutdown };
  });
