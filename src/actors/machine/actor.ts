/**
 * One machine as an actor: it takes a message, steps its machine purely, has its host carry out what that asks for, and
 * goes on until no message is left. All of this is synchronous: what takes time answers by another message. A message told
 * from inside waits for the end of the step (run to completion). Timers run on the clock that is handed in, so a test
 * clock drives a fifteen-minute backoff in a millisecond.
 */
import type { AnyStateMachine, EventFromLogic } from "xstate";
import type { Alarm, Alarms } from "./alarms.ts";
import { Mailbox } from "./mailbox.ts";
import type { Position, Stepped, Stepper } from "./stepper.ts";

/** Whoever carries out what the machine asks for. */
export interface Host<M extends AnyStateMachine> {
  /** Carry out one named action. It must not wait for anything. */
  act(name: string, context: Position<M>["context"]): void;
  /** The machine is final. Called once. */
  ended(last: Position<M>): void;
  /** A step threw: the machine takes none any more. */
  broke(cause: unknown): void;
}

/** A class: there is one for each of a hundred thousand workers, and methods on a prototype cost them nothing. */
export class Actor<M extends AnyStateMachine> {
  /** Undefined before it is started. */
  private position: Position<M> | undefined;
  private readonly mailbox = new Mailbox<EventFromLogic<M>>();
  private readonly stepper: Stepper<M>;
  private readonly alarms: Alarms;
  private readonly host: Host<M>;
  private timers: Map<string, Alarm> | undefined;
  private stepping = false;
  private over = false;

  constructor(stepper: Stepper<M>, alarms: Alarms, host: Host<M>) {
    this.stepper = stepper;
    this.alarms = alarms;
    this.host = host;
  }

  /** From its first step on; what it was told before waits until then. */
  start(first: Stepped<M>): void {
    if (this.over) return;
    this.stepping = true;
    try {
      this.carryOut(first);
    } catch (cause) {
      this.break(cause);
    } finally {
      this.stepping = false;
    }
    this.drain();
  }

  /** False when its mailbox is full. */
  tell(event: EventFromLogic<M>): boolean {
    if (this.over) return true;
    const taken = this.mailbox.offer("control", event);
    if (!this.stepping && this.position !== undefined) this.drain();
    return taken;
  }

  /** Messages that wait. */
  waiting(): number {
    return this.mailbox.size();
  }

  /** It takes no step any more, whatever it is told. */
  stop(): void {
    this.over = true;
    for (const alarm of this.timers?.values() ?? []) alarm.disarm();
    this.timers = undefined;
  }

  private drain(): void {
    this.stepping = true;
    try {
      while (!this.over) {
        const event = this.mailbox.take();
        if (event === undefined) return;
        this.carryOut(this.stepper.step(this.position as Position<M>, event));
      }
    } catch (cause) {
      this.break(cause);
    } finally {
      this.stepping = false;
    }
  }

  private break(cause: unknown): void {
    this.stop();
    this.host.broke(cause);
  }

  private carryOut([position, steps]: Stepped<M>): void {
    this.position = position;
    for (const step of steps) {
      if (step.type === "act") this.host.act(step.name, position.context);
      else if (step.type === "disarm") this.disarm(step.timer);
      else if (step.delay_ms <= 0) this.mailbox.offer("control", step.event);
      else this.arm(step.timer, step.delay_ms, step.event);
    }
    if (position.status === "active" || this.over) return;
    this.stop();
    this.host.ended(position);
  }

  private arm(timer: string, delay_ms: number, event: EventFromLogic<M>): void {
    this.disarm(timer);
    this.timers ??= new Map();
    const ring = (): void => {
      this.timers?.delete(timer);
      this.tell(event);
    };
    this.timers.set(timer, this.alarms.after(delay_ms, ring));
  }

  private disarm(timer: string): void {
    this.timers?.get(timer)?.disarm();
    this.timers?.delete(timer);
  }
}
