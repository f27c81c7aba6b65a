/**
 * Runs a worker's machine for the worker's fiber: takes an event, steps the machine purely, and has the actions carried
 * out, until the machine is final. A step takes no time. Work that takes time is forked and answers by an event, which
 * waits for the end of the step (run to completion). Timers run on the runtime's clock, so a test clock drives a
 * fifteen-minute backoff in a millisecond.
 */
import { Effect } from "effect";
import type { Alarm, Alarms } from "./alarms.ts";
import { Mailbox } from "./mailbox.ts";
import type { Position, Stepper, StepResult } from "./stepper.ts";
import type { MachineEvent, WorkerAction, WorkerContext } from "./worker-machine.ts";

/** Carries out the actions that a machine asks for. */
export interface MachineHost {
  /** Begins to carry out an action. It must not wait. */
  act(action: WorkerAction, context: WorkerContext): void;
}

/**
 * A class, to save memory: a daemon may have a hundred thousand of them, and a closure or a generator in each would be
 * most of its memory.
 */
export class Life {
  readonly mailbox = new Mailbox<MachineEvent>();
  private readonly stepper: Stepper;
  private readonly alarms: Alarms;
  private readonly host: MachineHost;
  private position: Position | undefined;
  private timers: Map<string, Alarm> | undefined;

  constructor(stepper: Stepper, alarms: Alarms, host: MachineHost) {
    this.stepper = stepper;
    this.alarms = alarms;
    this.host = host;
  }

  /** Runs until the machine is final. If a step or an action throws, the fiber dies of that defect. */
  live(first: StepResult): Effect.Effect<void> {
    this.carryOut(first);
    return Effect.whileLoop(this);
  }

  /** Disarms all timers and closes the mailbox. */
  end(): void {
    for (const alarm of this.timers?.values() ?? []) alarm.disarm();
    this.timers = undefined;
    this.mailbox.close();
  }

  // --- the loop: while the machine is active, take an event and step

  while(): boolean {
    return this.position?.status === "active";
  }

  body(): Effect.Effect<MachineEvent> {
    return this.mailbox.take();
  }

  step(event: MachineEvent): void {
    this.carryOut(this.stepper.step(this.position as Position, event));
  }

  private carryOut([position, steps]: StepResult): void {
    this.position = position;
    for (const step of steps) {
      if (step.type === "act") this.host.act(step.action, position.context);
      else if (step.type === "disarm") this.disarm(step.timer);
      else this.arm(step.timer, step.delay_ms, step.event);
    }
  }

  private arm(timer: string, delay_ms: number, event: MachineEvent): void {
    this.disarm(timer);
    if (delay_ms <= 0) {
      this.mailbox.post(event);
      return;
    }
    this.timers ??= new Map();
    const ring = (): void => {
      this.timers?.delete(timer);
      this.mailbox.post(event);
    };
    this.timers.set(timer, this.alarms.after(delay_ms, ring));
  }

  private disarm(timer: string): void {
    this.timers?.get(timer)?.disarm();
    this.timers?.delete(timer);
  }
}
