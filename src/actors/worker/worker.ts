/**
 * One worker: a fiber in the scope of its supervisor's fiber. The fiber runs the worker's machine. Work that takes time runs in
 * fibers of its own scope and answers by an event: `launching`, `taking-over`, `limiting`, `stopping`, `settling`.
 *
 * Interrupting the fiber lets go of the worker: its agent runs on, and the next daemon takes it over. A failure outside (a
 * launch, a signal, the store) becomes an input or is tried again. A defect (a throw in an adapter or in a decision) ends the
 * fiber, and its supervisor abandons the worker: its processes are ended, its siblings are not touched.
 */
import { Cause, Effect, Exit, Fiber, Scope } from "effect";
import { type AgentAdapter, converses } from "../../adapters/adapter.ts";
import type { RunResources } from "../../adapters/posix.ts";
import type { Run } from "../../adapters/spawner.ts";
import { MAILBOX_MAX_REPEATABLE } from "../../base/limits.ts";
import type { PacedWork } from "../../base/pace.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { AppendOptions } from "../../store/event-log.ts";
import type { DiskView } from "../../supervisor/admission/disk.ts";
import type { BootAction } from "../../supervisor/boot/reconcile.ts";
import type { ChildInput, ChildState } from "../../supervisor/child/inputs.ts";
import { howToStop } from "../../supervisor/child/session-decisions.ts";
import { isPaused, wasPaused } from "../../supervisor/holds/pause.ts";
import { ActivityClock } from "../clocks/activity-clock.ts";
import { Journal } from "../deciding/journal.ts";
import { SoloDecider, type WorkerDecider, type WorkerListener } from "../deciding/worker-decider.ts";
import type { Incarnation } from "../intake/incarnation.ts";
import type { RecordsListener } from "../intake/intake.ts";
import { checkOutput } from "../intake/output-bounds.ts";
import { attemptAsync, typed } from "../machine/attempt.ts";
import { Life, type MachineHost } from "../machine/living.ts";
import { makeStepper, type StepResult } from "../machine/stepper.ts";
import type { MachineEvent, WorkerAction, WorkerContext } from "../machine/worker-machine.ts";
import type { Services } from "../ports.ts";
import type { SharedParts } from "../shared.ts";
import type { SupervisedWorker } from "../supervisor/supervisor.ts";
import { Approving } from "../talk/approving.ts";
import { Mailing } from "../talk/mailing.ts";
import { abandon } from "./abandoning.ts";
import { launch, withoutSecrets } from "./launching.ts";
import { checkBudget, checkDeadline, reportTimeout, timeoutOf } from "./limiting.ts";
import { endInput, isRestDue, passivate, restOrWake } from "./passivating.ts";
import { applyPause } from "./pausing.ts";
import { holdSession, keepSession } from "./session-holding.ts";
import { settle } from "./settling.ts";
import { sendSignal, terminate } from "./stopping.ts";
import { takeOver } from "./taking-over.ts";

const stepper = makeStepper();

/** How a worker begins: afresh, or from what a boot found. */
export interface Beginning {
  readonly action: Exclude<BootAction, { readonly type: "leave" }>;
  readonly run?: Run;
  readonly exit?: RunExit;
  /** The reason why no agent can be started any more: its launch spec is lost. */
  readonly unlaunchable?: HoldfastError;
}

/**
 * Called before each incarnation. Undefined if it need not wait; otherwise resolves when it has a slot and there is enough
 * memory.
 */
export interface StartTurn {
  (): Promise<void> | undefined;
  /** True if it need not wait now. Takes no slot. */
  isFree(): boolean;
}

/** A worker to be put under supervision. */
export interface WorkerEntry {
  readonly spec: WorkerSpec;
  readonly adapter: AgentAdapter;
  readonly child: ChildState;
  readonly beginning: Beginning;
  /** Its place in the start order of its supervisor. */
  readonly order: number;
  readonly turn?: StartTurn;
  /** The decider of its tree; without one, the worker gets its own. */
  readonly decider?: WorkerDecider;
}

export interface Worker extends WorkerListener {
  readonly id: string;
  readonly order: number;
  readonly spec: WorkerSpec;
  /** How this runtime got the worker: started afresh or found by a boot. */
  readonly beginning: Beginning;
  child(): ChildState;
  /** Decides an input, records it, then carries it out. Fails only with a store error, and then nothing has changed. */
  input(input: ChildInput): Effect.Effect<unknown, HoldfastError>;
  /** Hands over messages; undefined for a kind that takes none. */
  readonly mail: Mailing | undefined;
  /** Answers permission requests; undefined for an agent that makes none. */
  readonly approvals: Approving | undefined;
  /** Masks the secrets that the agent was given. */
  readonly redact: Redactor;
  /** Runs work for a caller that may go away; undefined if the worker is let go. */
  inScope<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A | undefined, E>;
  /**
   * Called on the runtime's tick: checks the deadline, the heartbeat, a stall, and the room for its output. If the store refuses a
   * record, the next tick tries again.
   */
  tick(now: number, disk: DiskView): void;
  /** The last time its process was checked, in monotonic milliseconds; undefined while no agent runs. */
  resources(): RunResources | undefined;
  beatMs(): number | undefined;
  /** Leaves out a gap in which the daemon could not check. */
  rebase(now: number): void;
}

/** A class, not a closure, to save memory: a daemon may have a hundred thousand of them. */
export class LiveWorker implements Worker, SupervisedWorker, MachineHost, RecordsListener, PacedWork {
  readonly id: string;
  readonly order: number;
  readonly spec: WorkerSpec;
  readonly services: Services;
  readonly shared: SharedParts;
  readonly adapter: AgentAdapter;
  readonly beginning: Beginning;
  readonly turn: WorkerEntry["turn"];
  readonly activityClock: ActivityClock;
  readonly mail: Mailing | undefined;
  readonly approvals: Approving | undefined;
  readonly journal: Journal;

  /** Undefined unless an agent runs or is being settled. */
  incarnation: Incarnation | undefined;
  /** Why the newest launch failed. */
  startError: HoldfastError | undefined;
  /** A launch that has not finished. */
  starting: Promise<Run> | undefined;
  /** The redactor of the newest launch, which knows the secrets of that launch. */
  redact: Redactor = withoutSecrets;

  private readonly decider: WorkerDecider;
  private readonly life: Life;
  /** Holds the fibers of the worker's work. */
  private readonly scope = Scope.makeUnsafe();
  /** True once the fiber has ended: later callbacks of a run or an alarm start nothing. */
  private isOver = false;

  constructor(services: Services, shared: SharedParts, enlisted: WorkerEntry) {
    this.id = enlisted.child.worker_id;
    this.order = enlisted.order;
    this.spec = enlisted.spec;
    this.services = services;
    this.shared = shared;
    this.adapter = enlisted.adapter;
    this.beginning = enlisted.beginning;
    this.turn = enlisted.turn;
    this.decider = enlisted.decider ?? new SoloDecider(shared.ground, enlisted.child, this);
    this.journal = new Journal(services, shared.alarms, this.decider);
    this.life = new Life(stepper, shared.alarms, this);
    this.activityClock = new ActivityClock(enlisted.spec);
    const { messages } = enlisted.adapter;
    const isOpen = messages !== undefined && converses(enlisted.adapter, enlisted.spec);
    this.mail = isOpen ? new Mailing(this, messages) : undefined;
    this.approvals =
      isOpen && messages.answer !== undefined
        ? new Approving(this, messages, this.beginning.action.type === "adopt")
        : undefined;
  }

  // --- its life

  /** The body of the worker's fiber. Succeeds when the worker's life has ended. */
  live(): Effect.Effect<void> {
    const life = Effect.flatMap(this.begun(), (first) => this.life.live(first));
    const { mail } = this;
    const told = mail === undefined ? life : Effect.andThen(life, mail.ended());
    return Effect.ensuring(
      told,
      Effect.suspend(() => this.closed()),
    );
  }

  /** Prepares the first step of the machine from its records and, after a boot, the agent that was found. */
  private begun(): Effect.Effect<StepResult> {
    return Effect.gen({ self: this }, function* () {
      const { run, action } = this.beginning;
      keepSession(this);
      this.activityClock.resume(this.child(), this.journal.now());
      // The decider passes on only later stops, so repeat one that is on record.
      const { stop } = this.child();
      if (stop !== null) {
        const { grace_ms, signal } = howToStop(stop, this.spec.grace_ms);
        this.tell({ type: "STOP", grace_ms, signal });
      }
      if (run !== undefined) yield* takeOver(this, run);
      const first = firstStep(this);
      if (action.type === "wait") this.fork(restOrWake(this));
      this.pauseAgain();
      return first;
    });
  }

  private closed(): Effect.Effect<void> {
    this.isOver = true;
    this.life.end();
    return Scope.close(this.scope, Exit.void);
  }

  /** Called by the supervisor when the worker's fiber has died of a defect. */
  abandon(defect: unknown): Effect.Effect<void> {
    return Effect.andThen(
      abandon(this, defect),
      Effect.suspend(() => this.mail?.ended() ?? Effect.void),
    );
  }

  /** Runs work in the worker's scope; a defect in it is the worker's. */
  fork(work: Effect.Effect<void>): void {
    if (this.isOver) return;
    const contained = Effect.catchCause(work, (cause) =>
      Effect.sync(() => {
        if (Cause.hasDies(cause)) this.life.mailbox.break(Cause.squash(cause));
      }),
    );
    Fiber.runIn(this.shared.fork(contained), this.scope);
  }

  /**
   * As `fork`, for a caller that waits: if the caller goes away, the work goes on. Undefined if the worker is let go.
   */
  inScope<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A | undefined, E> {
    return Effect.suspend(() => {
      if (this.isOver) return Effect.undefined;
      const fiber = Fiber.runIn(this.shared.fork(work), this.scope);
      return Effect.flatMap(Fiber.await(fiber), (exit) =>
        Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Effect.undefined : exit,
      );
    });
  }

  act(action: WorkerAction, context: WorkerContext): void {
    this.fork(this.carryOut(action, context));
  }

  private carryOut(action: WorkerAction, context: WorkerContext): Effect.Effect<void> {
    switch (action) {
      case "launch":
        return launch(this, context.incarnation);
      case "terminate":
        if (this.child().stop?.kind === "passivate") return endInput(this);
        return terminate(this, context.signal);
      case "killTree":
        return sendSignal(this, "SIGKILL", "grace is over");
      case "settle":
        return settle(this);
      case "reportTimeout":
        return reportTimeout(this);
      case "applyPause":
        return applyPause(this);
    }
  }

  // --- its inputs

  tell(event: MachineEvent): void {
    // A flood of these says no more than the newest two, and there must always be room for the exit.
    if (REPEATABLE.has(event.type) && this.life.mailbox.waiting() >= MAILBOX_MAX_REPEATABLE) return;
    this.life.mailbox.post(event);
  }

  /**
   * Pauses a new run again if its worker is paused: while it started, or by an earlier daemon. That daemon may also
   * have died before it continued an agent that was to continue.
   */
  pauseAgain(): void {
    const child = this.child();
    if (isPaused(child)) this.tell({ type: "PAUSE" });
    else if (wasPaused(child)) this.tell({ type: "UNPAUSE" });
  }

  child(): ChildState {
    return this.decider.child();
  }

  input(input: ChildInput): Effect.Effect<unknown, HoldfastError> {
    return this.decider.input(input);
  }

  /** Undefined if it does not run, or if its runtime cannot tell. */
  resources(): RunResources | undefined {
    return this.incarnation?.run.posix?.resources();
  }

  beatMs(): number | undefined {
    const run = this.incarnation?.run;
    return run && this.activityClock.beatMs(run.incarnation);
  }

  tick(now: number, disk: DiskView): void {
    const { mail, approvals } = this;
    try {
      checkDeadline(this);
      const run = this.incarnation?.run;
      if (run === undefined) return;
      mail?.tick();
      approvals?.tick(now);
      const child = this.child();
      const { state, ladder } = child;
      if (state !== "running") return;
      if (isRestDue(this, now)) this.fork(passivate(this));
      if (!isPaused(child) && this.activityClock.dueAt(ladder) <= now)
        this.fork(this.activityClock.tick(this.journal, run, now));
      checkOutput(this, disk);
    } catch (cause) {
      this.life.mailbox.break(cause);
    }
  }

  rebase(now: number): void {
    this.activityClock.rebase(now);
  }

  /**
   * Masks an error for the operator: it may quote the agent, and the daemon's log must not hold the agent's secrets.
   */
  masked(cause: unknown): unknown {
    const thrown = cause instanceof HoldfastError ? (cause.cause ?? cause) : cause;
    if (!(thrown instanceof Error)) return this.redact.text(String(thrown));
    const said = new Error(this.redact.text(thrown.message));
    said.name = thrown.name;
    said.stack = this.redact.text(thrown.stack ?? thrown.message);
    return said;
  }

  /** Calls a run; a failure is reported and answers `otherwise`. The machine asks again, or does without the answer. */
  call<A, B>(what: string, made: () => Promise<A>, otherwise: B): Effect.Effect<A | B> {
    return this.tried(what, attemptAsync(made), otherwise);
  }

  tried<A, B>(what: string, work: Effect.Effect<A, HoldfastError>, otherwise: B): Effect.Effect<A | B> {
    return Effect.catch(typed(work), (failure) => {
      this.services.report(`worker ${this.id}: ${what} failed`, this.masked(failure));
      return Effect.succeed(otherwise);
    });
  }

  // --- its incarnation

  /** Starts to read the agent's output. */
  listen(incarnation: Incarnation): void {
    const { run, intake } = incarnation;
    const wrote = (): void => this.fork(intake.wrote());
    run.onOutput(wrote);
    wrote();
    run.exited.then((exit) => {
      if (this.incarnation !== incarnation) return;
      incarnation.exit = exit;
      this.shared.exits.put(this);
    });
  }

  /** Called when the agent has ended and this end's turn has come. */
  goOn(): void {
    this.tell({ type: "EXITED" });
  }

  detach(): void {
    this.mail?.detach();
    this.approvals?.detach();
    this.incarnation = undefined;
  }

  onRecords(drafts: readonly RecordDraft[]): void {
    const told = drafts.find(({ type }) => type === "session_started");
    if (told?.type === "session_started") this.fork(holdSession(this, told.payload.session_id));
    this.activityClock.progress(drafts, this.journal.now());
    // Check the budget before the next message, which may begin a turn that exceeds it.
    checkBudget(this, drafts);
    this.mail?.onRecords(drafts);
    this.approvals?.onRecords(drafts);
  }

  /** Options that delete the checkpoints of an ended incarnation. */
  forgetCheckpoints(): AppendOptions {
    return { drop_checkpoints: { worker_id: this.id, incarnation: this.child().incarnation } };
  }
}

/** People may send these as often as they like; the records say which holds. */
const REPEATABLE: ReadonlySet<MachineEvent["type"]> = new Set(["STOP", "PAUSE", "UNPAUSE"]);

/** The machine's first step: afresh, or in the state in which a boot found the worker. */
const firstStep = (worker: LiveWorker): StepResult => {
  const { action } = worker.beginning;
  const { open, incarnation } = worker.child();
  const { context } = stepper.initial({ incarnation })[0];
  switch (action.type) {
    case "adopt":
      return stepper.step(stepper.at("starting", context), {
        type: "LAUNCHED",
        timeout_ms: timeoutOf(worker),
      });
    case "settle":
      return stepper.step(stepper.at("starting", context), { type: "EXITED" });
    case "back_off":
      return stepper.step(stepper.at("settling", context), {
        type: "RESTART_AFTER",
        delay_ms: action.delay_ms,
      });
    case "wait":
      return stepper.step(stepper.at("settling", context), { type: "WAIT" });
    case "start": {
      // A beginning that is on record is the one that is to be started now.
      const before = { ...context, incarnation: open ? incarnation - 1 : incarnation };
      return stepper.step(stepper.at("pending", before), { type: "START" });
    }
  }
};
