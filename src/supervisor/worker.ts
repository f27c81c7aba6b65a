/**
 * The shell around one worker: it carries out what the machine asks for (launch, terminate, kill, settle) and what the
 * supervisor decides, and records every step. One fiber, one mailbox, one decision at a time.
 */
import { basename } from "node:path";
import { Clock, Effect, Latch, Schedule, type Scope, Semaphore } from "effect";
import type { SnapshotFrom } from "xstate";
import { runActor } from "../actors/actor.ts";
import { beat, clocksAt, isBeatDue, isStalled, progress, type WorkerClocks } from "../actors/clocks.ts";
import { makeMailbox } from "../actors/mailbox.ts";
import { makeStepper } from "../actors/stepper.ts";
import { type WorkerAction, type WorkerEvent, workerMachine } from "../actors/worker-machine.ts";
import type { AgentAdapter, IncarnationOutcome } from "../adapters/adapter.ts";
import { type Ingest, openIngest } from "../adapters/ingest.ts";
import type { Run, RunExit } from "../adapters/spawner.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { STDERR_TAIL_BYTES, STORE_RETRY_MS } from "../protocol/limits.ts";
import { type RecordDraft, type WorkerError, workerStream } from "../protocol/records.ts";
import { makeRedactor, type Redactor } from "../protocol/redact.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AppendOptions } from "../store/port.ts";
import { breachOf } from "./budgets.ts";
import { decide } from "./decide.ts";
import { evolve } from "./evolve.ts";
import type { ChildState, Input, Now } from "./inputs.ts";
import type { BootAction } from "./reconcile.ts";
import type { Services } from "./services.ts";

const stepper = makeStepper(workerMachine, { incarnation: 0 });
type Snapshot = SnapshotFrom<typeof workerMachine>;

/** How the fiber of a worker begins: afresh, or from what a boot found. */
export type Beginning = { readonly action: BootAction; readonly run?: Run; readonly exit?: RunExit };

export interface Worker {
  readonly id: string;
  /** Place in the start order of its supervisor. */
  readonly order: number;
  readonly spec: WorkerSpec;
  readonly child: () => ChildState;
  /** Decide on an input, record it, then carry it out. Fails only with a store error: nothing has changed then. */
  input(input: Input): Effect.Effect<void, HoldfastError>;
  /** Append to the agent's open stdin. */
  send(text: string): Effect.Effect<void, HoldfastError>;
  /** Called on the runtime's tick: heartbeat and stall. */
  tick(now: number): Effect.Effect<void>;
  /** The life of the worker: ends when its machine is final. */
  readonly life: Effect.Effect<void, never, Scope.Scope>;
}

export const makeWorker = (services: Services, id: string, order: number, spec: WorkerSpec, adapter: AgentAdapter, initial: ChildState, beginning: Beginning): Worker => {
  const { log, spawner } = services;
  const mailbox = makeMailbox<WorkerEvent>();
  const deciding = Semaphore.makeUnsafe(1);
  const reading = Semaphore.makeUnsafe(1);
  const dirty = Latch.makeUnsafe(false);

  let child = initial;
  let run = beginning.run;
  let exit = beginning.exit;
  let ingest: Ingest | undefined;
  let startError: HoldfastError | undefined;
  let clocks: WorkerClocks = clocksAt(0);
  let signals: string[] = [];
  /** Name of the agent's program, for sentences. */
  let program: string | undefined;

  const tell = (event: WorkerEvent): void => {
    mailbox.offer("control", event);
  };

  const now = Effect.map(
    Clock.Clock,
    (clock): Now => {
      const nanos = clock.monotonicTimeNanosUnsafe();
      return { mono_ms: Number(nanos / 1_000_000n), clock: { boot_id: services.boot_id, mono_ns: String(nanos) }, random: services.random() };
    },
  );

  const commit = (drafts: readonly RecordDraft[], options?: AppendOptions) =>
    Effect.tryPromise({ try: () => log.commit(drafts, options), catch: asHoldfastError });

  /** For facts that have happened already: the store must take them, now or when it can again. */
  const persist = <A>(effect: Effect.Effect<A, HoldfastError>): Effect.Effect<A> =>
    effect.pipe(
      Effect.tapError((error) => Effect.sync(() => services.report(`worker ${id}: a record waits for the store: ${error.message}`))),
      Effect.retry(storeRetry),
      Effect.orDie,
    );

  const input = (given: Input, extra: readonly RecordDraft[] = [], options?: AppendOptions): Effect.Effect<void, HoldfastError> =>
    deciding.withPermits(1)(
      Effect.gen(function* () {
        const at = yield* now;
        const { events, commands } = decide(child, given, at);
        if (extra.length + events.length > 0) yield* commit([...extra, ...events], options);
        for (const event of events) child = evolve(child, event, at.mono_ms);
        for (const command of commands) {
          if (command.type === "start") tell({ type: "START" });
          else if (command.type === "stop") tell({ type: "STOP", grace_ms: command.grace_ms, signal: command.signal });
          else if (command.type === "restart_after") tell({ type: "RESTART_AFTER", delay_ms: command.delay_ms });
          else tell({ type: "END", state: command.state });
        }
      }),
    );

  const redactor = (secrets: readonly string[]): Redactor => makeRedactor(secrets);

  const attach = (started: Run, secrets: readonly string[]): void => {
    run = started;
    ingest = openIngest({
      adapter,
      worker_id: id,
      incarnation: started.incarnation,
      spool: (stream) => started.spool(stream),
      checkpoints: log.checkpoints(id, started.incarnation),
      redact: redactor(secrets),
    });
    started.onOutput(() => dirty.openUnsafe());
    dirty.openUnsafe();
    void started.exited.then((ended) => {
      exit = ended;
      tell({ type: "EXITED" });
    });
  };

  /** Read all that the agent has written; each batch is one transaction with its checkpoint. */
  const drain = reading.withPermits(1)(
    Effect.gen(function* () {
      for (;;) {
        const batch = ingest?.pull();
        if (batch === undefined) return;
        yield* persist(commit(batch.drafts, { checkpoint: batch.checkpoint }));
        if (batch.drafts.length === 0) continue;
        clocks = progress(clocks, (yield* now).mono_ms);
        if (batch.drafts.some((draft) => draft.type === "turn_completed")) yield* checkBudget;
      }
    }),
  );

  const checkBudget = Effect.suspend(() => {
    const row = log.worker(id);
    const breach = row === undefined ? undefined : breachOf(spec.budget, row);
    return breach === undefined ? Effect.void : persist(input({ type: "limit", ...breach, grace_ms: spec.grace_ms }));
  });

  const pump = Effect.forever(
    Effect.gen(function* () {
      yield* dirty.await;
      dirty.closeUnsafe();
      yield* drain;
    }),
  );

  const launch = (incarnation: number) =>
    Effect.gen(function* () {
      startError = undefined;
      exit = undefined;
      signals = [];
      yield* persist(input({ type: "begin", incarnation, reason: incarnation === 1 ? "spawn" : "restart" }));
      clocks = clocksAt((yield* now).mono_ms);
      const session = log.worker(id)?.session_id ?? undefined;
      const { plan, env, secrets } = yield* services.prepare(adapter, spec, incarnation, session);
      program = basename(plan.argv[0] ?? "");
      const request = { worker_id: id, incarnation, argv: plan.argv, cwd: spec.cwd, env, stdin: plan.stdin };
      const started = yield* Effect.tryPromise({ try: () => spawner.launch(request), catch: asHoldfastError });
      const redact = redactor(secrets);
      const spawned = { pid: started.agent.pid, pgid: started.pgid, agent: started.agent, launcher: started.launcher, argv: plan.argv.map((word) => redact.text(word)) };
      yield* persist(input({ type: "launched", spawned }));
      tell({ type: "LAUNCHED", timeout_ms: yield* remaining });
      attach(started, secrets);
    }).pipe(
      Effect.catch((error) =>
        Effect.sync(() => {
          startError = error;
          tell({ type: "EXITED" });
        }),
      ),
    );

  /** What is left of this incarnation's wall clock and of the worker's budget of time; 0 is no limit. */
  const remaining = Effect.map(now, ({ mono_ms }) => {
    const ran = child.started_ms === null ? 0 : mono_ms - child.started_ms;
    const bounds = [spec.timeout_ms, spec.budget.wall_ms ?? 0].filter((bound) => bound > 0);
    return bounds.length === 0 ? 0 : Math.max(1, Math.min(...bounds) - ran);
  });

  const signalled = (signal: string, pids: readonly number[], reason: string) =>
    pids.length === 0
      ? Effect.void
      : persist(commit([{ type: "worker_signal_sent", stream: workerStream(id), worker_id: id, incarnation: child.incarnation, payload: { signal, pids, reason } }]));

  const terminate = (signal: string) =>
    Effect.gen(function* () {
      signals.push(signal);
      const pids = yield* Effect.promise(async () => (await run?.signal(signal as NodeJS.Signals)) ?? []);
      yield* signalled(signal, pids, "stop");
    });

  const killTree = Effect.gen(function* () {
    signals.push("SIGKILL");
    const pids = yield* Effect.promise(async () => (await run?.kill()) ?? []);
    yield* signalled("SIGKILL", pids, "grace is over");
  });

  /** After the exit: sweep what it left, read what it wrote, hear the adapter's verdict, let the supervisor decide. */
  const settle = Effect.gen(function* () {
    const ended = run;
    const duration_ms = Math.max(0, (yield* now).mono_ms - (child.started_ms ?? 0));
    const drop = { drop_checkpoints: { worker_id: id, incarnation: child.incarnation } };
    if (ended === undefined) {
      const error = errorOf(startError ?? new HoldfastError("WORKER_LOST", "The agent was never started."));
      yield* persist(input({ type: "exited", exit: notStarted, outcome: failedToStart(error), duration_ms, error }, [], drop));
      return;
    }
    const sweep = yield* Effect.promise(() => ended.sweep());
    yield* drain;
    const stderr_tail = yield* Effect.promise(() => ended.tail("stderr", STDERR_TAIL_BYTES));
    const seen = exit ?? unknownExit;
    const { drafts, outcome } = yield* reading.withPermits(1)(
      Effect.sync(() => {
        const last = (ingest as Ingest).finish({ status: { code: seen.exit_code, signal: seen.signal }, signals_sent: signals, stderr_tail, ...(program === undefined ? {} : { program }) });
        ingest?.close();
        ingest = undefined;
        return last;
      }),
    );
    run = undefined;
    ended.dispose();
    yield* persist(input({ type: "exited", exit: seen, outcome: honest(outcome, seen), duration_ms, sweep }, drafts, drop));
  });

  const act = (name: string, snapshot: Snapshot): Effect.Effect<void, never, Scope.Scope> => {
    switch (name as WorkerAction) {
      case "launch":
        return Effect.asVoid(Effect.forkScoped(launch(snapshot.context.incarnation)));
      case "terminate":
        return Effect.asVoid(Effect.forkScoped(terminate(snapshot.context.signal)));
      case "killTree":
        return Effect.asVoid(Effect.forkScoped(killTree));
      case "settle":
        return Effect.asVoid(Effect.forkScoped(settle));
      case "reportTimeout":
        return Effect.suspend(() => {
          const wall = spec.budget.wall_ms ?? 0;
          const byBudget = wall > 0 && (spec.timeout_ms === 0 || wall < spec.timeout_ms);
          const bound = byBudget ? wall : spec.timeout_ms;
          return Effect.asVoid(Effect.forkScoped(persist(input({ type: "limit", limit: byBudget ? "wall" : "timeout", value: bound, bound, grace_ms: spec.grace_ms }))));
        });
      case "endWithoutProcess":
        return Effect.void;
    }
  };

  const life = Effect.gen(function* () {
    yield* Effect.forkScoped(pump);
    clocks = clocksAt((yield* now).mono_ms);
    const start = begin(beginning, child, yield* remaining);
    if (beginning.run !== undefined) {
      const secrets = yield* Effect.map(Effect.option(services.prepare(adapter, spec, child.incarnation, undefined)), (option) => (option._tag === "Some" ? option.value.secrets : []));
      attach(beginning.run, secrets);
    }
    if (child.stop !== null && child.stop.kind === "kill") tell({ type: "STOP", grace_ms: child.stop.grace_ms, signal: child.stop.signal });
    else if (child.stop !== null) tell({ type: "STOP", grace_ms: spec.grace_ms, signal: "SIGTERM" });
    yield* runActor(stepper, start, mailbox, act);
  });

  return {
    id,
    order,
    spec,
    child: () => child,
    input: (given) => input(given),
    send: (text) =>
      Effect.gen(function* () {
        const open = run;
        if (open === undefined) return yield* Effect.fail(new HoldfastError("INVALID_STATE", `Worker ${id} has no running agent to send to.`));
        yield* Effect.tryPromise({ try: () => open.write(text), catch: asHoldfastError });
      }),
    tick: (at) =>
      Effect.suspend(() => {
        if (run === undefined || child.state !== "running") return Effect.void;
        const bounds = { stall_ms: spec.stall_ms, heartbeat_ms: spec.heartbeat_ms };
        const work: Effect.Effect<void>[] = [];
        if (isBeatDue(clocks, bounds, at)) {
          const seen = beat(clocks, run.process(), at);
          clocks = seen.clocks;
          if (seen.changed) {
            const payload = { process: clocks.process, idle_ms: Math.round(at - clocks.progress_ms) };
            work.push(persist(commit([{ type: "worker_heartbeat", stream: workerStream(id), worker_id: id, incarnation: child.incarnation, payload }])));
          }
        }
        if (isStalled(clocks, bounds, at)) {
          work.push(persist(input({ type: "limit", limit: "stall", value: Math.round(at - clocks.progress_ms), bound: spec.stall_ms, grace_ms: spec.grace_ms })));
        }
        return Effect.all(work, { discard: true });
      }),
    life,
  };
};

const storeRetry = Schedule.spaced(STORE_RETRY_MS);

const errorOf = (error: HoldfastError): WorkerError => ({ code: error.code, message: error.message });

const notStarted: RunExit = { exit_code: null, signal: null, signal_inferred: false, raw_status: null, reason: "start_failed" };
const unknownExit: RunExit = { ...notStarted, reason: "unknown" };

const failedToStart = (error: WorkerError): IncarnationOutcome => ({ status: "failed", completion: { status: { code: null, signal: null } }, error });

/** Where nobody saw the exit, the agent's own terminal event still counts; without one the truth is that nobody knows. */
const honest = (outcome: IncarnationOutcome, exit: RunExit): IncarnationOutcome =>
  exit.reason === "unknown" && outcome.status === "failed"
    ? { ...outcome, error: { code: "WORKER_LOST", message: "The agent ended and nobody saw how: its launcher was killed too." } }
    : outcome;

/** The machine's first snapshot: afresh, or in the state in which a boot found its worker. */
const begin = (beginning: Beginning, child: ChildState, timeout_ms: number) => {
  const context = { ...stepper.initial({ incarnation: child.incarnation })[0].context };
  switch (beginning.action.type) {
    case "adopt":
      return stepper.step(stepper.at("starting", context), { type: "LAUNCHED", timeout_ms });
    case "settle":
      return stepper.step(stepper.at("starting", context), { type: "EXITED" });
    case "back_off":
      return stepper.step(stepper.at("settling", context), { type: "RESTART_AFTER", delay_ms: beginning.action.delay_ms });
    default:
      return stepper.step(stepper.at("pending", context), { type: "START" });
  }
};
