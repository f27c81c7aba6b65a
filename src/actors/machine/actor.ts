/**
 * A worker's machine as an actor: it takes a message, steps its machine purely, has its host carry out what that asks for, and
 * goes on until no message is left. All of this is synchronous: what takes time answers by another message. A message told
 * from inside waits for the end of the step (run to completion). Timers run on the clock that is handed in, so a test
 * clock drives a fifteen-minute backoff in a millisecond.
 */
import { MAILBOX_MAX_EVENTS } from "../../base/limits.ts";
import type { Alarm, Alarms } from "./alarms.ts";
import type { Position, Stepped, Stepper } from "./stepper.ts";
import type { WorkerAction, WorkerContext, WorkerEvent } from "./worker-machine.ts";

/** Whoever carries out what the machine asks for. */
export interface Host {
  /** Carry out one named action. It must not wait for anything. */
  act(action: WorkerAction, context: WorkerContext): void;
  /** The machine is final. Called once. */
  ended(last: Position): void;
  /** A step threw, or the mailbox is over its bound: the machine takes no step any more. */
  broke(cause: unknown): void;
}

/** A class: there is one for each of a hundred thousand workers, and methods on a prototype cost them nothing. */
export class Actor {
  /** Undefined before it is started. */
  private position: Position | undefined;
  /** Events that wait, in the order of arrival; undefined while there are none, which is nearly always. */
  private mail: WorkerEvent[] | undefined;
  private readonly stepper: Stepper;
  private readonly alarms: Alarms;
  private readonly host: Host;
  private timers: Map<string, Alarm> | undefined;
  private stepping = false;
  private over = false;

  constructor(stepper: Stepper, alarms: Alarms, host: Host) {
    this.stepper = stepper;
    this.alarms = alarms;
    this.host = host;
  }

  /** From its first step on; what it was told before waits until then. */
  start(first: Stepped): void {
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

  /** A mailbox over its bound breaks the machine: an event that was lost would leave it waiting for ever. */
  tell(event: WorkerEvent): void {
    if (this.over) return;
    this.post(event);
    if (!this.stepping && this.position !== undefined) this.drain();
  }

  /** Messages that wait. */
  waiting(): number {
    return this.mail?.length ?? 0;
  }

  /** It takes no step any more, whatever it is told. */
  stop(): void {
    this.over = true;
    this.mail = undefined;
    for (const alarm of this.timers?.values() ?? []) alarm.disarm();
    this.timers = undefined;
  }

  private post(event: WorkerEvent): void {
    this.mail ??= [];
    this.mail.push(event);
    if (this.mail.length > MAILBOX_MAX_EVENTS)
      this.break(new Error(`More than ${MAILBOX_MAX_EVENTS} events wait for one machine.`));
  }

  private take(): WorkerEvent | undefined {
    const next = this.mail?.shift();
    if (this.mail?.length === 0) this.mail = undefined;
    return next;
  }

  private drain(): void {
    this.stepping = true;
    try {
      while (!this.over) {
        const event = this.take();
        if (event === undefined) return;
        this.carryOut(this.stepper.step(this.position as Position, event));
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

  private carryOut([position, steps]: Stepped): void {
    this.position = position;
    for (const step of steps) {
      if (step.type === "act") this.host.act(step.action, position.context);
      else if (step.type === "disarm") this.disarm(step.timer);
      else if (step.delay_ms <= 0) this.post(step.event);
      else this.arm(step.timer, step.delay_ms, step.event);
    }
    if (position.status === "active" || this.over) return;
    this.stop();
    this.host.ended(position);
  }

  private arm(timer: string, delay_ms: number, event: WorkerEvent): void {
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
