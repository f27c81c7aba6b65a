/**
 * The shell around one worker: it carries out what the machine asks for (launch, terminate, kill, settle) and records
 * every step in its journal. One fiber and one mailbox; what takes time is forked and answers by a message.
 *
 * What fails outside (a launch, a signal, the store) is an input or is tried again. What may not fail and does (a throw in
 * an adapter, in a decision) ends this worker: it is abandoned as failed, its processes are ended, its siblings live.
 */
import { Cause, Effect, Exit, Latch, type Scope } from "effect";
import type { SnapshotFrom } from "xstate";
import { runActor } from "../actors/actor.ts";
import { makeMailbox } from "../actors/mailbox.ts";
import { makeStepper } from "../actors/stepper.ts";
import { type WorkerAction, type WorkerEvent, workerMachine } from "../actors/worker-machine.ts";
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { Run, RunExit } from "../adapters/spawner.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { KILL_REPEAT_MS, MAILBOX_USER_MAX, STDERR_TAIL_BYTES } from "../protocol/limits.ts";
import { type RecordDraft, workerStream } from "../protocol/records.ts";
import { makeRedactor, type Redactor } from "../protocol/redact.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { attemptAsync, typed } from "./attempt.ts";
import { breachOf, timeLeft } from "./budgets.ts";
import type { Decider } from "./decider.ts";
import { ABANDONED, errorOf, failedToStart, honest, NOT_STARTED, UNKNOWN_EXIT } from "./exits.ts";
import type { ChildState, Input } from "./inputs.ts";
import { type Intake, makeIntake } from "./intake.ts";
import { makeJournal } from "./journal.ts";
import { discard, inTime, programOf, secretsOf, spawnedOf } from "./launching.ts";
import type { BootAction } from "./reconcile.ts";
import type { Services } from "./services.ts";
import { makeVitals } from "./vitals.ts";

const stepper = makeStepper(workerMachine, { incarnation: 0 });
type Snapshot = SnapshotFrom<typeof workerMachine>;

/** How the fiber of a worker begins: afresh, or from what a boot found. */
export interface Beginning {
  readonly action: Exclude<BootAction, { readonly type: "leave" }>;
  readonly run?: Run;
  readonly exit?: RunExit;
  /** Why no agent can be started any more: its launch spec is lost. */
  readonly unlaunchable?: HoldfastError;
}

/** A worker as it is put under supervision. */
export interface Enlisted {
  readonly spec: WorkerSpec;
  readonly adapter: AgentAdapter;
  readonly child: ChildState;
  readonly beginning: Beginning;
  /** Place in the start order of its supervisor. */
  readonly order: number;
  /** The tree that it belongs to decides for it; without one it decides alone. */
  readonly decider?: Decider;
}

export interface Worker {
  readonly id: string;
  readonly order: number;
  readonly spec: WorkerSpec;
  readonly child: () => ChildState;
  /** Decide on an input, record it, then carry it out. Fails only with a store error: nothing has changed then. */
  input(input: Input): Effect.Effect<void, HoldfastError>;
  /** What the tree that it belongs to has decided. */
  tell(event: WorkerEvent): void;
  /** Append to the agent's open stdin. */
  send(text: string): Effect.Effect<void, HoldfastError>;
  /** Called on the runtime's tick: heartbeat and stall. What the store refuses, the next tick finds again. */
  tick(now: number): Effect.Effect<void>;
  /** The life of the worker: ends when its machine is final. Dies only where not even its end could be recorded. */
  readonly life: Effect.Effect<void>;
}

export const makeWorker = (
  services: Services,
  { spec, adapter, child: initial, beginning, order, decider }: Enlisted,
): Worker => {
  const id = initial.worker_id;
  const mailbox = makeMailbox<WorkerEvent>();
  const written = Latch.makeUnsafe(false);

  let run: Run | undefined;
  let intake: Intake | undefined;
  let exit = beginning.exit;
  let startError: HoldfastError | undefined;
  /** A launch that has not answered. */
  let starting: Promise<Run> | undefined;
  /** Signals sent to this incarnation, in order. */
  let signals: string[] = [];
  /** Name of the agent's program, for sentences. */
  let program: string | undefined;
  let defect: unknown;

  const tell = (event: WorkerEvent): void => {
    // A flood of stops says no more than its first two; there is always room for the exit.
    if (event.type === "STOP" && mailbox.size() >= MAILBOX_USER_MAX) return;
    mailbox.offer("control", event);
  };
  const broken = (cause: unknown): void => {
    defect ??= cause;
    tell({ type: "BROKEN" });
  };

  const journal = makeJournal(services, initial, tell, decider);
  const { child, now, fact } = journal;
  const vitals = makeVitals(journal, spec);
  const contained = (work: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.catchCause(work, (cause) =>
      Effect.sync(() => {
        if (!Cause.hasInterruptsOnly(cause)) broken(Cause.squash(cause));
      }),
    );
  const fork = (work: Effect.Effect<void>) => Effect.asVoid(Effect.forkScoped(contained(work)));

  /** A call to a run that fails is told, and changes nothing: the machine asks again, or its answer is done without. */
  const call = <A, B>(what: string, made: () => Promise<A>, otherwise: B): Effect.Effect<A | B> =>
    Effect.catch(attemptAsync(made), (error) =>
      Effect.sync(() => {
        services.report(`worker ${id}: ${what} failed`, error);
        return otherwise;
      }),
    );

  // --- what it writes

  const onRecords = (drafts: readonly RecordDraft[]) =>
    Effect.gen(function* () {
      yield* vitals.progress;
      if (drafts.some((draft) => draft.type === "turn_completed")) yield* checkBudget;
    });

  const checkBudget = Effect.gen(function* () {
    const row = yield* journal.ask((log) => log.worker(id));
    const breach = row === undefined ? undefined : breachOf(spec.budget, row);
    if (breach !== undefined) yield* fact({ type: "limit", ...breach, grace_ms: spec.grace_ms });
  });

  const pump = Effect.forever(
    Effect.gen(function* () {
      yield* written.await;
      written.closeUnsafe();
      if (intake !== undefined) yield* intake.drain;
    }),
  );

  // --- how it starts

  const attach = (started: Run, redact: Redactor): void => {
    run = started;
    intake = makeIntake(journal, adapter, started, redact, onRecords);
    started.onOutput(() => written.openUnsafe());
    written.openUnsafe();
    started.exited.then((ended) => {
      if (run !== started) return;
      exit = ended;
      tell({ type: "EXITED" });
    }, broken);
  };

  const start = (incarnation: number) =>
    Effect.gen(function* () {
      if (beginning.unlaunchable !== undefined) return yield* Effect.fail(beginning.unlaunchable);
      const session = (yield* journal.ask((log) => log.worker(id)))?.session_id ?? undefined;
      const prepared = yield* services.prepare(adapter, spec, incarnation, session);
      program = programOf(prepared.plan.argv);
      if (child().stop !== null) {
        return yield* Effect.fail(
          new HoldfastError("WORKER_CANCELLED", "It was stopped before its agent was started."),
        );
      }
      const { argv, stdin } = prepared.plan;
      const { cwd } = spec;
      starting = services.spawner.launch({ worker_id: id, incarnation, argv, cwd, env: prepared.env, stdin });
      return { started: yield* inTime(services, starting), argv, redact: makeRedactor(prepared.secrets) };
    });

  const launch = (incarnation: number) =>
    Effect.gen(function* () {
      startError = undefined;
      exit = undefined;
      signals = [];
      program = undefined;
      yield* fact({ type: "begin", incarnation, reason: incarnation === 1 ? "spawn" : "restart" });
      // Killed before it began.
      if (!child().open) return;
      yield* vitals.begin;
      const made = yield* Effect.exit(typed(start(incarnation)));
      if (Exit.isFailure(made)) {
        startError = asHoldfastError(Cause.squash(made.cause));
        tell({ type: "EXITED" });
        return;
      }
      const { started, argv, redact } = made.value;
      yield* fact({ type: "launched", spawned: spawnedOf(started, argv, redact) });
      const timeout_ms = yield* clockOf;
      // Before the machine is told: it may be waiting to stop what runs.
      attach(started, redact);
      starting = undefined;
      tell({ type: "LAUNCHED", timeout_ms });
    });

  /** What a boot found: its agent is read on where the last daemon stopped, before the machine's first step. */
  const takeOver = (found: Run) =>
    Effect.gen(function* () {
      const { incarnation } = found;
      const prepared = yield* Effect.option(typed(services.prepare(adapter, spec, incarnation, undefined)));
      const { plan, secrets } =
        prepared._tag === "Some" ? prepared.value : { plan: undefined, secrets: secretsOf(spec, adapter) };
      const redact = makeRedactor(secrets);
      const argv = plan?.argv ?? spec.argv;
      program = programOf(argv);
      const sent = yield* journal.ask((log) => log.stream(id, ["worker_signal_sent"]));
      signals = sent.flatMap((record) =>
        record.type === "worker_signal_sent" && record.incarnation === incarnation
          ? [record.payload.signal]
          : [],
      );
      if (beginning.action.type === "adopt") {
        yield* fact({ type: "adopted", spawned: spawnedOf(found, argv, redact) });
        yield* fork(checkBudget);
      }
      attach(found, redact);
    });

  // --- how it ends

  const timeNow = Effect.map(now, ({ mono_ms }) =>
    timeLeft(spec, mono_ms - (child().started_ms ?? mono_ms), child().spent_ms),
  );
  /** For the machine: 0 is no limit. */
  const clockOf = Effect.map(timeNow, (left) => (left === undefined ? 0 : Math.max(1, left.left_ms)));

  const reportTimeout = Effect.gen(function* () {
    const left = yield* timeNow;
    if (left === undefined) return;
    const { limit, bound } = left;
    yield* fact({ type: "limit", limit, value: bound, bound, grace_ms: spec.grace_ms });
  });

  const signalled = (target: Run | undefined, signal: string, reason: string) =>
    Effect.gen(function* () {
      if (target === undefined) return;
      signals.push(signal);
      const pids = yield* call(
        signal,
        () => (signal === "SIGKILL" ? target.kill() : target.signal(signal as NodeJS.Signals)),
        [],
      );
      if (pids.length === 0) return;
      const stream = workerStream(id);
      const { incarnation } = target;
      const payload = { signal, pids, reason };
      yield* journal.note([{ type: "worker_signal_sent", stream, worker_id: id, incarnation, payload }]);
    });

  const duration = Effect.map(now, ({ mono_ms }) => Math.max(0, mono_ms - (child().started_ms ?? mono_ms)));
  const forgetCheckpoints = () => ({ drop_checkpoints: { worker_id: id, incarnation: child().incarnation } });

  /** After the exit: sweep what it left, read what it wrote, hear the adapter's verdict, let the supervisor decide. */
  const settle = Effect.gen(function* () {
    const duration_ms = yield* duration;
    const ended = run;
    if (ended === undefined || intake === undefined) {
      const error = errorOf(startError ?? new HoldfastError("WORKER_LOST", "The agent was never started."));
      yield* fact(
        { type: "exited", exit: NOT_STARTED, outcome: failedToStart(error), duration_ms, error },
        [],
        forgetCheckpoints(),
      );
      return;
    }
    const sweep = yield* call("the sweep", () => ended.sweep(), undefined);
    yield* intake.drain;
    const stderr_tail = yield* call("reading stderr", () => ended.tail("stderr", STDERR_TAIL_BYTES), "");
    const seen = exit ?? UNKNOWN_EXIT;
    const { drafts, outcome } = yield* intake.finish({
      status: { code: seen.exit_code, signal: seen.signal },
      signals_sent: signals,
      stderr_tail,
      ...(program === undefined ? {} : { program }),
    });
    run = undefined;
    intake = undefined;
    ended.dispose();
    const told = { exit: seen, outcome: honest(outcome, seen), ...(sweep === undefined ? {} : { sweep }) };
    yield* fact({ type: "exited", ...told, duration_ms }, drafts, forgetCheckpoints());
  });

  /** The last resort: nothing is decoded and no policy is asked. */
  const abandon = (cause: unknown) =>
    Effect.gen(function* () {
      services.report(`worker ${id} is abandoned: its supervision failed`, cause);
      const duration_ms = yield* duration;
      const left = run;
      run = undefined;
      if (starting !== undefined) discard(services, starting);
      let sweep: Awaited<ReturnType<Run["sweep"]>> | undefined;
      if (left !== undefined) {
        yield* call("the kill", () => left.kill(), undefined);
        const ended = yield* Effect.timeoutOption(
          call("waiting for its exit", () => left.exited, undefined),
          KILL_REPEAT_MS,
        );
        if (ended._tag === "Some") exit ??= ended.value;
        sweep = yield* call("the sweep", () => left.sweep(), undefined);
        left.dispose();
      }
      const told = {
        exit: exit ?? UNKNOWN_EXIT,
        error: ABANDONED,
        ...(sweep === undefined ? {} : { sweep }),
      };
      yield* fact({ type: "abandoned", ...told, duration_ms }, [], forgetCheckpoints());
    });

  const act = (name: string, { context }: Snapshot): Effect.Effect<void, never, Scope.Scope> => {
    switch (name as WorkerAction) {
      case "launch":
        return fork(launch(context.incarnation));
      case "terminate":
        return fork(signalled(run, context.signal, "stop"));
      case "killTree":
        return fork(signalled(run, "SIGKILL", "grace is over"));
      case "settle":
        return fork(settle);
      case "reportTimeout":
        return fork(reportTimeout);
    }
  };

  const supervised = Effect.gen(function* () {
    yield* fork(pump);
    yield* vitals.begin;
    if (beginning.run !== undefined) yield* takeOver(beginning.run);
    // What is asked from now on, the journal tells.
    const { stop } = initial;
    if (stop?.kind === "kill") tell({ type: "STOP", grace_ms: stop.grace_ms, signal: stop.signal });
    else if (stop !== null) tell({ type: "STOP", grace_ms: spec.grace_ms, signal: "SIGTERM" });
    const last = yield* runActor(
      stepper,
      firstStep(beginning.action, child().incarnation, yield* clockOf),
      mailbox,
      act,
    );
    if (last.value === "broken") yield* Effect.die(defect);
  });

  return {
    id,
    order,
    spec,
    child,
    input: journal.input,
    tell,
    send: (text) =>
      Effect.suspend(() => {
        const open = run;
        if (open === undefined)
          return Effect.fail(
            new HoldfastError("INVALID_STATE", `Worker ${id} has no running agent to send to.`),
          );
        return attemptAsync(() => open.write(text));
      }),
    tick: (at) =>
      Effect.suspend(() =>
        run === undefined || child().state !== "running" ? Effect.void : contained(vitals.tick(run, at)),
      ),
    life: Effect.catchCause(Effect.scoped(supervised), (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : abandon(Cause.squash(cause)),
    ),
  };
};

/** The machine's first step: afresh, or from the state in which a boot found its worker. */
const firstStep = (action: Beginning["action"], incarnation: number, timeout_ms: number) => {
  const { context } = stepper.initial({ incarnation })[0];
  switch (action.type) {
    case "adopt":
      return stepper.step(stepper.at("starting", context), { type: "LAUNCHED", timeout_ms });
    case "settle":
      return stepper.step(stepper.at("starting", context), { type: "EXITED" });
    case "back_off":
      return stepper.step(stepper.at("settling", context), {
        type: "RESTART_AFTER",
        delay_ms: action.delay_ms,
      });
    case "start":
      return stepper.step(stepper.at("pending", context), { type: "START" });
  }
};
