/**
 * The shell around one worker: it carries out what the machine asks for and records every step in its journal. One machine
 * and one mailbox, stepped to completion at once; what takes time is a promise that answers by a message. Each phase has a
 * file: `launching`, `taking-over`, `limiting`, `stopping`, `settling`, `abandoning`.
 *
 * A failure outside (a launch, a signal, the store) is an input or is tried again. A part that may not fail and does (a throw in
 * an adapter, in a decision) ends this worker: it is abandoned as failed, its processes are ended, its siblings live.
 */
import type { Effect } from "effect";
import { type AgentAdapter, converses, type Opening } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { MAILBOX_MAX_REPEATABLE } from "../../base/limits.ts";
import type { Paced } from "../../base/pace.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { modelAsked } from "../../protocol/extensions.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { AppendOptions } from "../../store/port.ts";
import type { DiskView } from "../../supervisor/admission/disk.ts";
import type { BootAction } from "../../supervisor/boot/reconcile.ts";
import type { ChildState, Input } from "../../supervisor/child/inputs.ts";
import { howToStop } from "../../supervisor/child/session-decisions.ts";
import { isPaused, wasPaused } from "../../supervisor/holds/pause.ts";
import type { Bridge } from "../bridge.ts";
import { Vitals } from "../clocks/vitals.ts";
import { type Decider, SoloDecider, type Told } from "../deciding/decider.ts";
import { Journal } from "../deciding/journal.ts";
import { Intake, type Reader } from "../intake/intake.ts";
import { checkOutput } from "../intake/output-bounds.ts";
import { Actor, type Host } from "../machine/actor.ts";
import { attemptAsync } from "../machine/attempt.ts";
import { makeStepper, type Position } from "../machine/stepper.ts";
import type { WorkerAction, WorkerContext, WorkerEvent } from "../machine/worker-machine.ts";
import type { Services } from "../ports.ts";
import { Approving } from "../talk/approving.ts";
import { Mailing } from "../talk/mailing.ts";
import { abandon } from "./abandoning.ts";
import { launch, withoutSecrets } from "./launching.ts";
import { checkBudget, reportTimeout, timeoutOf } from "./limiting.ts";
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
  /** Asked before each incarnation; where it has to wait, resolves when it has a slot and the machine the memory. */
  readonly turn?: () => Promise<void> | undefined;
  /** The decider for it; it alone, unless told otherwise. */
  readonly decider?: (worker: Told) => Decider;
}

export interface Worker extends Told {
  readonly id: string;
  readonly order: number;
  readonly spec: WorkerSpec;
  /** How this runtime has come by it. */
  readonly beginning: Beginning;
  child(): ChildState;
  /** Decide on an input, record it, then carry it out. Fails only with a store error: nothing has changed then. */
  input(input: Input): Effect.Effect<void, HoldfastError>;
  /** The mail of an interactive worker. */
  readonly mail: Mailing | undefined;
  /** The approvals of one whose agent asks for permission. */
  readonly approvals: Approving | undefined;
  /** Masks what its agent knows and nobody else may; undefined before its first agent. */
  readonly redact: Redactor;
  /** Called on the runtime's tick: heartbeat, stall, and room for its output. The next tick finds again what the store refuses. */
  tick(now: number, disk: DiskView): void;
  /** Time has passed in which nobody could look: it counts for nothing. */
  rebase(now: number): void;
}

/** The parts that a worker's phases share. A class: there is one for each of a hundred thousand workers. */
export class Shell implements Worker, Host, Reader, Paced {
  readonly id: string;
  readonly order: number;
  readonly spec: WorkerSpec;
  readonly services: Services;
  readonly bridge: Bridge;
  readonly adapter: AgentAdapter;
  readonly beginning: Beginning;
  readonly turn: Enlisted["turn"];
  readonly vitals: Vitals;
  readonly mail: Mailing | undefined;
  readonly approvals: Approving | undefined;
  journal: Journal;

  run: Run | undefined;
  intake: Intake | undefined;
  exit: RunExit | undefined;
  startError: HoldfastError | undefined;
  /** A launch that has not answered. */
  starting: Promise<Run> | undefined;
  /** Signals sent to this incarnation, in order. */
  signals: readonly string[] = NO_SIGNALS;
  /** Name of the agent's program, for sentences. */
  program: string | undefined;
  /** The redactor of this incarnation: it knows the secrets that were given to it. */
  redact: Redactor = withoutSecrets;

  private readonly decider: Decider;
  private readonly actor: Actor;
  private readonly onEnd: (worker: Worker, failure?: unknown) => void;
  private defect: unknown;

  /** `onEnd` is told when the life of the worker has ended, with a failure where not even that could be recorded. */
  constructor(
    services: Services,
    bridge: Bridge,
    enlisted: Enlisted,
    onEnd: (worker: Worker, failure?: unknown) => void,
  ) {
    this.id = enlisted.child.worker_id;
    this.order = enlisted.order;
    this.spec = enlisted.spec;
    this.services = services;
    this.bridge = bridge;
    this.adapter = enlisted.adapter;
    this.beginning = enlisted.beginning;
    this.turn = enlisted.turn;
    this.exit = enlisted.beginning.exit;
    this.onEnd = onEnd;
    this.decider = enlisted.decider?.(this) ?? new SoloDecider(services, bridge.alarms, enlisted.child, this);
    this.journal = new Journal(services, bridge.alarms, this.decider);
    this.vitals = new Vitals(enlisted.spec);
    const { messages } = enlisted.adapter;
    const isOpen = messages !== undefined && converses(enlisted.adapter, enlisted.spec);
    this.mail = isOpen ? new Mailing(this, messages) : undefined;
    this.approvals =
      isOpen && messages.answer !== undefined
        ? new Approving(this, messages, this.beginning.action.type === "adopt")
        : undefined;
    this.actor = new Actor(stepper, bridge.alarms, this);
  }

  // --- how its life begins and ends

  begin(): void {
    const { run } = this.beginning;
    keepSession(this);
    this.vitals.resume(this.child(), this.journal.now());
    // Its decider tells what is asked from now on.
    const { stop } = this.child();
    if (stop !== null) {
      const { grace_ms, signal } = howToStop(stop, this.spec.grace_ms);
      this.tell({ type: "STOP", grace_ms, signal });
    }
    const first = (): void => {
      this.actor.start(firstStep(this));
      if (this.beginning.action.type === "wait") this.fork(restOrWake(this));
      this.pauseAgain();
    };
    if (run === undefined) first();
    else
      takeOver(this, run)
        .then(first)
        .catch((cause) => this.fail(cause));
  }

  /** Lets go of it: nothing more is done for it here, and its agent runs on. */
  letGo(): void {
    this.actor.stop();
    this.journal.close();
  }

  ended(last: Position): void {
    if (last.value === "broken") this.fail(this.defect);
    else {
      this.journal.close();
      this.mail?.ended();
      this.onEnd(this);
    }
  }

  /** A step of its machine threw. */
  broke(cause: unknown): void {
    this.fail(cause);
  }

  private fail(cause: unknown): void {
    this.letGo();
    this.journal = new Journal(this.services, this.bridge.alarms, this.decider);
    abandon(this, cause).then(
      () => {
        this.mail?.ended();
        this.onEnd(this);
      },
      (failure) => this.onEnd(this, failure),
    );
  }

  // --- what it is told

  tell(event: WorkerEvent): void {
    // A flood of these says no more than the newest two did; there is always room for the exit.
    if (REPEATABLE.has(event.type) && this.actor.waiting() >= MAILBOX_MAX_REPEATABLE) return;
    this.actor.tell(event);
  }

  /**
   * It runs from now on, and was paused before: while it started, or by an earlier daemon. That one may also have died
   * before it let go on what was to go on.
   */
  pauseAgain(): void {
    const child = this.child();
    if (isPaused(child)) this.tell({ type: "PAUSE" });
    else if (wasPaused(child)) this.tell({ type: "UNPAUSE" });
  }

  child(): ChildState {
    return this.decider.child();
  }

  input(input: Input): Effect.Effect<void, HoldfastError> {
    return attemptAsync(() => this.decider.input(input));
  }

  tick(now: number, disk: DiskView): void {
    const { run, mail, approvals } = this;
    if (run === undefined) return;
    try {
      mail?.tick();
      approvals?.tick(now);
      const child = this.child();
      const { state, ladder } = child;
      if (state !== "running") return;
      if (isRestDue(this, now)) this.fork(passivate(this));
      if (!isPaused(child) && this.vitals.dueAt(ladder) <= now)
        this.fork(this.vitals.tick(this.journal, run, now));
      checkOutput(this, disk);
    } catch (cause) {
      this.broken(cause);
    }
  }

  rebase(now: number): void {
    this.vitals.rebase(now);
  }

  // --- what its machine asks for

  act(action: WorkerAction, context: WorkerContext): void {
    this.fork(this.carryOut(action, context));
  }

  private carryOut(action: WorkerAction, context: WorkerContext): Promise<void> {
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

  /** Its failure is this worker's end. */
  fork(work: Promise<void>): void {
    void this.contained(work);
  }

  private contained(work: Promise<void>): Promise<void> {
    return work.catch((cause) => this.broken(cause));
  }

  private broken(cause: unknown): void {
    this.defect ??= cause;
    this.tell({ type: "BROKEN" });
  }

  /** For the operator: what was thrown may quote the agent, and the daemon's log is no place for its secrets. */
  masked(cause: unknown): unknown {
    const thrown = cause instanceof HoldfastError ? (cause.cause ?? cause) : cause;
    if (!(thrown instanceof Error)) return this.redact.text(String(thrown));
    const said = new Error(this.redact.text(thrown.message));
    said.name = thrown.name;
    said.stack = this.redact.text(thrown.stack ?? thrown.message);
    return said;
  }

  /** A call to a run that fails is told, and changes nothing: the machine asks again, or its answer is done without. */
  call<A, B>(what: string, made: () => Promise<A>, otherwise: B): Promise<A | B> {
    const failed = (cause: unknown): B => {
      this.services.report(`worker ${this.id}: ${what} failed`, this.masked(cause));
      return otherwise;
    };
    try {
      return made().catch(failed);
    } catch (cause) {
      return Promise.resolve(failed(cause));
    }
  }

  // --- its incarnation

  /** A new incarnation knows nothing of the last one. */
  forget(): void {
    this.startError = undefined;
    this.exit = undefined;
    this.signals = NO_SIGNALS;
    this.program = undefined;
  }

  attach(started: Run, opening: Opening): void {
    const { services, spec, journal, adapter, redact, bridge } = this;
    const account = { model: modelAsked(adapter, spec), estimate: services.estimate ?? ((one) => one) };
    this.run = started;
    this.intake = new Intake({
      journal,
      adapter,
      run: started,
      opening,
      redact,
      reader: this,
      company: bridge.company,
      account,
    });
  }

  /** From now on, what it writes is read. */
  listen(): void {
    const { run: started, intake } = this;
    if (started === undefined || intake === undefined) return;
    const wrote = (): void => this.fork(intake.wrote());
    started.onOutput(wrote);
    wrote();
    started.exited.then((ended) => {
      if (this.run !== started) return;
      this.exit = ended;
      this.bridge.exits.put(this);
    });
  }

  /** Its agent has ended, and its turn has come. */
  goOn(): void {
    this.tell({ type: "EXITED" });
  }

  detach(): void {
    this.mail?.detach();
    this.approvals?.detach();
    this.run = undefined;
    this.intake = undefined;
  }

  onRecords(drafts: readonly RecordDraft[]): void {
    const told = drafts.find(({ type }) => type === "session_started");
    if (told?.type === "session_started") this.fork(holdSession(this, told.payload.session_id));
    this.vitals.progress(drafts, this.journal.now());
    this.mail?.onRecords(drafts);
    this.approvals?.onRecords(drafts);
    checkBudget(this, drafts);
  }

  /** No place in the output of an ended worker is kept. */
  forgetCheckpoints(): AppendOptions {
    return { drop_checkpoints: { worker_id: this.id, incarnation: this.child().incarnation } };
  }
}

const NO_SIGNALS: readonly string[] = [];
/** People may ask for these as often as they like; the records say what holds. */
const REPEATABLE: ReadonlySet<WorkerEvent["type"]> = new Set(["STOP", "PAUSE", "UNPAUSE"]);

/** The machine's first step: afresh, or from the state in which a boot found its worker. */
const firstStep = (shell: Shell) => {
  const { action } = shell.beginning;
  const { context } = stepper.initial({ incarnation: shell.child().incarnation })[0];
  switch (action.type) {
    case "adopt":
      return stepper.step(stepper.at("starting", context), {
        type: "LAUNCHED",
        timeout_ms: timeoutOf(shell),
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
    case "start":
      return stepper.step(stepper.at("pending", context), { type: "START" });
  }
};
