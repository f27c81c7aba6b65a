/**
 * The life of a worker's machine, for the fiber of its worker: take an event, step the machine purely, have carried out
 * what that asks for, until the machine is final. A step takes no time: work that does is forked and answers by an event,
 * which waits for the end of the step (run to completion). Timers run on the clock that is handed in, so a test clock drives a
 * fifteen-minute backoff in a millisecond.
 */
import { Effect } from "effect";
import type { Alarm, Alarms } from "./alarms.ts";
import { Mailbox } from "./mailbox.ts";
import type { Position, Stepper, StepResult } from "./stepper.ts";
import type { MachineEvent, WorkerAction, WorkerContext } from "./worker-machine.ts";

/** The host of a machine carries out the actions that the machine asks for. */
export interface MachineHost {
  /** Begins to carry out an action. It must not wait for anything. */
  act(action: WorkerAction, context: WorkerContext): void;
}

/** A class: there is one for each of a hundred thousand workers, and a closure or a generator in each would be most of its memory. */
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

  /** Succeeds when the machine is final. A step or an action that throws is a defect of the fiber. */
  live(first: StepResult): Effect.Effect<void> {
    this.carryOut(first);
    return Effect.whileLoop(this);
  }

  /** No timer rings any more, and no event is kept. */
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
