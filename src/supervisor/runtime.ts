/**
 * The runtime: one dynamic one_for_one supervisor over all workers, and the facade that the daemon, the library and tests
 * use. It holds what lives (fibers, mailboxes, processes); what is true is in the log.
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Cause, Clock, Effect, Exit, FiberMap, Schedule, type Scope, Semaphore, Stream } from "effect";
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { Observed } from "../adapters/spawner.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { newId } from "../protocol/ids.ts";
import { CLOCK_TICK_MS, WORKERS_LIVE_MAX } from "../protocol/limits.ts";
import { DAEMON_STREAM, type LogRecord, type RecordDraft, workerStream } from "../protocol/records.ts";
import { makeRedactor } from "../protocol/redact.ts";
import { isEnded, WorkerSpec, type WorkerSpecInput } from "../protocol/worker.ts";
import type { WorkerRow } from "../store/port.ts";
import { evolve, monotonicOf, newChild } from "./evolve.ts";
import type { KillOptions, PerWorker, RuntimeApi, SpawnReply, WatchQuery } from "./facade.ts";
import type { ChildState } from "./inputs.ts";
import { finalText } from "./output.ts";
import { reconcile } from "./reconcile.ts";
import { resolveRef } from "./resolve.ts";
import type { Services } from "./services.ts";
import { shutdownOrder } from "./shutdown-order.ts";
import { perWorker, replyOf, subtreeOf, treeOf, viewOf, waitOf, windowOf } from "./views.ts";
import { followLines, tailOf } from "./watch.ts";
import { type Beginning, makeWorker, type Worker } from "./worker.ts";

export interface RuntimeOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly adapters: readonly AgentAdapter[];
  /** A sentence that names the nearest kind, for a mistyped one. */
  readonly suggestKind: (kind: string) => string | undefined;
}

export const makeRuntime = (services: Services, options: RuntimeOptions): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { log, spawner } = services;
    const clock = yield* Clock.Clock;
    const fibers = yield* FiberMap.make<string>();
    const live = new Map<string, Worker>();
    const endings = new Map<string, Set<() => void>>();
    const startedAt = new Date(clock.currentTimeMillisUnsafe()).toISOString();
    let order = 0;
    let closing = false;

    const monoMs = (): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n);
    const stamp = () => ({ boot_id: services.boot_id, mono_ns: String(clock.monotonicTimeNanosUnsafe()) });
    const instant = () => ({ boot_id: services.boot_id, mono_ms: monoMs(), wall_ms: clock.currentTimeMillisUnsafe() });
    const commit = (drafts: readonly RecordDraft[]) => Effect.tryPromise({ try: () => log.commit(drafts), catch: asHoldfastError });

    const find = (ref: string): Effect.Effect<WorkerRow, HoldfastError> =>
      Effect.suspend(() => {
        const direct = log.worker(ref);
        const found = direct ?? resolveRef(log.workers(), ref);
        return found instanceof HoldfastError ? Effect.fail(found) : Effect.succeed(found);
      });
    const rowOf = (id: string): WorkerRow => log.worker(id) as WorkerRow;

    /** Put a worker under supervision: its fiber lives in the runtime's scope and dies with it, its agent does not. */
    const supervise = (row: { readonly id: string }, spec: WorkerSpec, adapter: AgentAdapter, child: ChildState, beginning: Beginning): Effect.Effect<Worker> =>
      Effect.gen(function* () {
        const worker = makeWorker(services, row.id, order++, spec, adapter, child, beginning);
        live.set(row.id, worker);
        const life = Effect.scoped(worker.life).pipe(
          Effect.onExit((exit) => {
            live.delete(row.id);
            if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) services.report(`worker ${row.id}: its fiber failed`, Cause.squash(exit.cause));
            return Effect.sync(() => {
              for (const ended of endings.get(row.id) ?? []) ended();
              endings.delete(row.id);
            });
          }),
        );
        yield* FiberMap.run(fibers, row.id, life);
        return worker;
      });

    const ended = (id: string): Effect.Effect<void> =>
      Effect.callback<void>((resume) => {
        if (!live.has(id)) return resume(Effect.void);
        const waiters = endings.get(id) ?? new Set();
        const waiter = () => resume(Effect.void);
        waiters.add(waiter);
        endings.set(id, waiters);
        return Effect.sync(() => waiters.delete(waiter));
      });

    const foldChild = (row: WorkerRow, spec: WorkerSpec): ChildState => {
      const now = instant();
      return log.stream(row.id, LIFECYCLE).reduce((child, record) => evolve(child, record, monotonicOf(record, now, spec.restart_period_ms)), newChild(row.id, spec));
    };

    const known = (kind: string): Effect.Effect<AgentAdapter, HoldfastError> =>
      Effect.suspend(() => {
        const adapter = services.adapterFor(kind);
        if (adapter !== undefined) return Effect.succeed(adapter);
        const near = options.suggestKind(kind);
        const kinds = options.adapters.map((one) => one.kind).join(", ");
        return Effect.fail(new HoldfastError("INVALID_AGENT_KIND", `There is no agent kind "${kind}".`, { phase: "validation", suggestion: near === undefined ? `Use one of: ${kinds}.` : `Did you mean "${near}"?` }));
      });

    const checked = (given: WorkerSpecInput): Effect.Effect<{ spec: WorkerSpec; adapter: AgentAdapter }, HoldfastError> =>
      Effect.gen(function* () {
        const adapter = yield* known(String(given.kind));
        const parsed = WorkerSpec.safeParse({ ...given, kind: adapter.kind });
        const problems = parsed.success ? [...adapter.validate(parsed.data)] : parsed.error.issues.map((issue) => `${issue.path.join(".") || "spec"}: ${issue.message}`);
        if (parsed.success && parsed.data.backoff_max_ms < parsed.data.backoff_min_ms) problems.push("backoff: the longest delay is shorter than the shortest.");
        if (!parsed.success || problems.length > 0) {
          return yield* Effect.fail(new HoldfastError("INVALID_REQUEST", problems.join(" "), { problems, phase: "validation" }));
        }
        return { spec: parsed.data, adapter };
      });

    /** Spawns with an idempotency key go one at a time, so that a repeat always finds the first one's record. */
    const keyed = Semaphore.makeUnsafe(1);
    const spawn: RuntimeApi["spawn"] = (given, how = {}) => {
      if (how.idempotency_key === undefined) return spawnNew(given, undefined, how.dry_run === true);
      const requestId = `spawn:${how.idempotency_key}`;
      return keyed.withPermits(1)(
        Effect.suspend(() => {
          const earlier = log.byId(requestId)?.worker_id;
          return earlier === undefined ? spawnNew(given, requestId, how.dry_run === true) : Effect.succeed(replyOf(rowOf(earlier), "noop"));
        }),
      );
    };

    const spawnNew = (given: WorkerSpecInput, requestId: string | undefined, dryRun: boolean): Effect.Effect<SpawnReply, HoldfastError> =>
      Effect.gen(function* () {
        const { spec, adapter } = yield* checked(given);
        // Start errors that are certain now are told now, before anything is recorded.
        const { plan, env, secrets } = yield* services.prepare(adapter, spec, 1, undefined);
        yield* Effect.tryPromise({ try: () => spawner.check({ argv: plan.argv, cwd: spec.cwd, env }), catch: asHoldfastError });
        const redact = makeRedactor(secrets);
        if (dryRun) {
          const shown = { argv: plan.argv.map(redact.text), cwd: spec.cwd, env: redact.env(env), stdin: plan.stdin.kind };
          return { id: "", name: spec.name ?? null, kind: spec.kind, status: "pending" as const, effect: "would_create" as const, plan: shown };
        }
        const id = newId(clock.currentTimeMillisUnsafe());
        const masked = { ...spec, env: redact.env(spec.env), client_env: {}, argv: spec.argv.map(redact.text), ...(spec.prompt === undefined ? {} : { prompt: redact.text(spec.prompt) }) };
        const requested: RecordDraft = { type: "worker_spawn_requested", stream: workerStream(id), worker_id: id, ...(requestId === undefined ? {} : { id: requestId }), payload: { spec: masked, clock: stamp() } };
        const begun = Effect.gen(function* () {
          yield* Effect.tryPromise({ try: () => services.files.save(id, spec), catch: asHoldfastError });
          yield* commit([requested]);
          yield* supervise({ id }, spec, adapter, newChild(id, spec), { action: { type: "start" } });
        });
        yield* reserve(id, spec);
        yield* Effect.ensuring(begun, Effect.sync(() => reserved.delete(id)));
        return replyOf(rowOf(id), "created");
      });

    /** Names and places of spawns that are being recorded: two at once never get the same. */
    const reserved = new Map<string, string | undefined>();
    const reserve = (id: string, spec: WorkerSpec): Effect.Effect<void, HoldfastError> =>
      Effect.suspend(() => {
        if (closing) return Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime is shutting down."));
        if (live.size + reserved.size >= WORKERS_LIVE_MAX) {
          return Effect.fail(new HoldfastError("QUEUE_FULL", `There are ${WORKERS_LIVE_MAX} living workers, which is the most this daemon supervises.`));
        }
        const holder = spec.name === undefined ? undefined : [...live.values()].find((worker) => worker.spec.name === spec.name)?.id;
        const beingMade = spec.name !== undefined && [...reserved.values()].includes(spec.name);
        if (holder !== undefined || beingMade) {
          return Effect.fail(new HoldfastError("ALREADY_EXISTS", `A living worker is called "${spec.name}" already${holder === undefined ? "" : `: ${holder}`}.`));
        }
        reserved.set(id, spec.name);
        return Effect.void;
      });

    const killOne = (row: WorkerRow, how: KillOptions): Effect.Effect<PerWorker, HoldfastError> =>
      Effect.gen(function* () {
        const worker = live.get(row.id);
        if (worker === undefined || isEnded(row.state)) return perWorker(row, "noop");
        if (how.dry_run === true) return perWorker(row, "would_delete");
        const signal = how.signal ?? "SIGTERM";
        yield* worker.input({ type: "kill", by: how.by ?? "user", reason: how.reason ?? "killed", grace_ms: how.grace_ms ?? worker.spec.grace_ms, signal });
        yield* ended(row.id);
        return perWorker(rowOf(row.id), "deleted");
      });

    const each = (refs: readonly string[], one: (row: WorkerRow) => Effect.Effect<PerWorker, HoldfastError>, concurrency: number | "unbounded" = "unbounded") =>
      Effect.forEach(
        refs,
        (ref) =>
          Effect.flatMap(find(ref), one).pipe(
            Effect.catch((error) => Effect.succeed<PerWorker>({ id: ref, name: null, ok: false, effect: "noop", status: null, error: { code: error.code, message: error.message } })),
          ),
        { concurrency },
      );

    const kill: RuntimeApi["kill"] = (how) =>
      Effect.gen(function* () {
        const rows = log.workers();
        const named = how.all === true ? [...live.keys()] : [...how.ids];
        const refs = how.subtree === true ? yield* Effect.map(Effect.forEach(named, find), (found) => [...new Set(found.flatMap((row) => subtreeOf(rows, row.id)))]) : named;
        return yield* each(refs, (row) => killOne(row, how));
      });

    const restart: RuntimeApi["restart"] = (ids) =>
      each(ids, (row) =>
        Effect.gen(function* () {
          // Its last record is written, its fiber not yet gone.
          if (isEnded(row.state)) yield* ended(row.id);
          const worker = live.get(row.id);
          if (worker !== undefined) {
            yield* worker.input({ type: "restart", by: "user", grace_ms: worker.spec.grace_ms });
            return perWorker(rowOf(row.id), "updated");
          }
          const spec = yield* Effect.tryPromise({ try: () => services.files.load(row.id), catch: asHoldfastError });
          const adapter = yield* known(row.kind);
          yield* reserve(row.id, spec);
          const begun = Effect.gen(function* () {
            const child = foldChild(row, spec);
            const due: RecordDraft = {
              type: "worker_restart_scheduled", stream: workerStream(row.id), worker_id: row.id, incarnation: row.incarnation,
              payload: { delay_ms: 0, restarts_in_window: 0, max_restarts: spec.max_restarts, period_ms: spec.restart_period_ms, reason: "user", clock: stamp() },
            };
            yield* commit([due]);
            yield* supervise(row, spec, adapter, evolve(child, due, monoMs()), { action: { type: "start" } });
          });
          yield* Effect.ensuring(begun, Effect.sync(() => reserved.delete(row.id)));
          return perWorker(rowOf(row.id), "updated");
        }),
      );

    const ids = (query: WatchQuery) => (query.ids === undefined ? Effect.succeed(undefined) : Effect.forEach(query.ids, (ref) => Effect.map(find(ref), (row) => row.id)));

    const watchLines: RuntimeApi["watchLines"] = (query) =>
      Stream.unwrap(
        Effect.map(ids(query), (workerIds) => {
          const since = query.from ?? (query.since_ms === undefined ? undefined : log.seqAt(clock.currentTimeMillisUnsafe() - query.since_ms) - 1);
          const filter = { ...query.filter, ...(workerIds === undefined ? {} : { worker_ids: workerIds }) };
          const from = query.tail === undefined ? (since ?? log.head()) : tailOf(log, filter, since ?? 0, query.tail);
          const isOver = () => !query.follow && (workerIds ?? []).every((id) => isEnded(rowOf(id).state));
          return followLines(log, { from, filter, isOver });
        }),
      );

    const wait: RuntimeApi["wait"] = (refs, timeoutMs) =>
      Effect.gen(function* () {
        const rows = yield* Effect.forEach(refs, find);
        const all = Effect.forEach(rows, (row) => ended(row.id), { concurrency: "unbounded", discard: true });
        const tooLong = () =>
          Effect.fail(new HoldfastError("TIMEOUT", `Not all of the workers ended within the time given; they go on running.`, { suggestion: "Wait longer with --timeout, or look at them with `agent watch`.", details: { running: rows.filter((row) => live.has(row.id)).map((row) => row.id) } }));
        yield* timeoutMs === undefined ? all : Effect.timeoutOrElse(all, { duration: timeoutMs, orElse: tooLong });
        return rows.map((row) => waitOf(rowOf(row.id)));
      });

    const windowNow = (row: WorkerRow) => windowOf(row, live.get(row.id)?.child().restarts ?? [], monoMs());
    const runDir = (row: WorkerRow) => (row.incarnation === 0 ? null : join(spawner.workerDir(row.id), String(row.incarnation)));

    const shutdown: RuntimeApi["shutdown"] = (agents, reason) =>
      Effect.gen(function* () {
        closing = true;
        if (agents === "kill") {
          for (const worker of shutdownOrder(live.values())) yield* killOne(rowOf(worker.id), { ids: [], by: "daemon", reason });
        }
        yield* FiberMap.clear(fibers);
        yield* commit([{ type: "daemon_stopped", stream: DAEMON_STREAM, payload: { reason } }]);
      });

    // Boot: every recorded worker that has not ended is looked up in the process table.
    yield* commit([{ type: "daemon_started", stream: DAEMON_STREAM, payload: { version: options.version, pid: process.pid, node: process.version, clock: stamp() } }]);
    for (const row of log.workers().filter((one) => !isEnded(one.state))) {
      yield* recover(row).pipe(Effect.catch((error) => Effect.sync(() => services.report(`worker ${row.id} could not be taken over: ${error.message}`))));
    }

    function recover(row: WorkerRow): Effect.Effect<void, HoldfastError> {
      return Effect.gen(function* () {
        const spec = yield* Effect.tryPromise({ try: () => services.files.load(row.id), catch: asHoldfastError });
        const adapter = yield* known(row.kind);
        const child = foldChild(row, spec);
        const observed: Observed | { readonly kind: "not_begun" } = child.open
          ? yield* Effect.tryPromise({ try: () => spawner.observe({ worker_id: row.id, incarnation: child.incarnation }), catch: asHoldfastError })
          : { kind: "not_begun" };
        const action = reconcile(child, observed.kind, monoMs());
        if (action.type === "leave") return;
        const run = "run" in observed ? observed.run : undefined;
        if (action.type === "adopt" && run !== undefined) {
          yield* commit([{ type: "worker_adopted", stream: workerStream(row.id), worker_id: row.id, incarnation: child.incarnation, payload: { agent: run.agent, clock: stamp() } }]);
        }
        yield* supervise(row, spec, adapter, child, { action, ...(run === undefined ? {} : { run }), ...(observed.kind === "finished" ? { exit: observed.exit } : {}) });
      });
    }

    const tick = Effect.suspend(() => Effect.forEach([...live.values()], (worker) => worker.tick(monoMs()), { discard: true }));
    yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced(CLOCK_TICK_MS)));

    return {
      spawn,
      kill,
      restart,
      send: (ref, text) =>
        Effect.gen(function* () {
          const row = yield* find(ref);
          const worker = live.get(row.id);
          if (worker === undefined) return yield* Effect.fail(new HoldfastError("INVALID_STATE", `Worker ${row.id} has ended; there is nobody to send to.`));
          if (!worker.spec.interactive) return yield* Effect.fail(new HoldfastError("STDIN_CLOSED", `The stdin of worker ${row.id} was closed after its prompt.`));
          const message_id = newId(clock.currentTimeMillisUnsafe());
          const message = (state: "accepted" | "delivered" | "undeliverable"): RecordDraft => ({
            type: "worker_message", stream: workerStream(row.id), worker_id: row.id, incarnation: row.incarnation, payload: { message_id, bytes: Buffer.byteLength(text), state },
          });
          yield* commit([message("accepted")]);
          yield* Effect.tapError(worker.send(text), () => commit([message("undeliverable")]));
          yield* commit([message("delivered")]);
          return { message_id, state: "delivered" as const };
        }),
      resolve: (ref) => Effect.map(find(ref), (row) => row.id),
      list: (how = {}) => Effect.sync(() => log.workers().filter((row) => how.all === true || !isEnded(row.state)).map(viewOf)),
      info: (ref) =>
        Effect.map(find(ref), (row) => ({
          ...viewOf(row),
          spec: row.spec,
          completion: row.completion,
          turn_list: log.turns(row.id),
          run_dir: runDir(row),
          last_seq: row.last_seq,
          last_event_at: row.last_event_at,
          window: windowNow(row),
        })),
      tree: () => Effect.sync(() => treeOf(log.workers().filter((row) => !isEnded(row.state) || live.has(row.parent ?? "")), windowNow)),
      watchLines,
      watch: (query) =>
        Stream.flattenIterable(Stream.map(watchLines(query), (page) => page.lines.map((line) => JSON.parse(line) as LogRecord))),
      wait,
      output: (ref) =>
        Effect.flatMap(find(ref), (row) => {
          const found = finalText(log, row.id);
          return found === undefined
            ? Effect.fail(new HoldfastError("OUTPUT_NOT_FOUND", `Worker ${row.id} has said nothing${live.has(row.id) ? " yet" : ""}.`))
            : Effect.succeed({ id: row.id, ...found });
        }),
      raw: (ref, stream, offset, maxBytes) =>
        Effect.flatMap(find(ref), (row) =>
          Effect.tryPromise({
            try: async () => {
              const path = join(runDir(row) ?? "", stream);
              return { ...(await readSlice(path, offset, maxBytes)), ended: !live.has(row.id) };
            },
            catch: (cause) => new HoldfastError("OUTPUT_NOT_FOUND", `The raw ${stream} of worker ${row.id} is not kept (any more).`, { cause }),
          }),
        ),
      capabilities: (kind) =>
        Effect.map(kind === undefined ? Effect.succeed(options.adapters) : Effect.map(known(kind), (one) => [one] as readonly AgentAdapter[]), (found) =>
          found.map((one) => ({ kind: one.kind, aliases: one.aliases, summary: one.summary, capabilities: one.capabilities, binary: one.binary?.name ?? null })),
        ),
      status: () =>
        Effect.sync(() => ({
          version: options.version,
          pid: process.pid,
          node: process.version,
          store_id: log.store_id,
          state_dir: options.state_dir,
          started_at: startedAt,
          head: log.head(),
          workers: { live: live.size, total: log.workers().length },
          rss_bytes: process.memoryUsage.rss(),
          heap_bytes: process.memoryUsage().heapUsed,
        })),
      check: () => Effect.try({ try: () => log.check(), catch: asHoldfastError }),
      rebuild: () => Effect.try({ try: () => log.rebuild(), catch: asHoldfastError }),
      shutdown,
    } satisfies RuntimeApi;
  });

/** What `evolve` folds. */
const LIFECYCLE: readonly LogRecord["type"][] = [
  "worker_state_changed", "worker_cancel_requested", "worker_limit_reached", "worker_exited", "worker_restart_scheduled", "worker_ended",
];

const readSlice = async (path: string, offset: number, maxBytes: number): Promise<{ base64: string; next: number }> => {
  const size = statSync(path).size;
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(Math.max(0, Math.min(maxBytes, size - offset)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return { base64: buffer.subarray(0, bytesRead).toString("base64"), next: offset + bytesRead };
  } finally {
    await file.close();
  }
};
