/**
 * The life of a worker's machine, for the fiber of its worker: take an event, step the machine purely, have carried out
 * what that asks for, until the machine is final. A step takes no time: work that does is forked and answers by an event,
 * which waits for the end of the step (run to completion). Timers run on the clock that is handed in, so a test clock drives a
 * fifteen-minute backoff in a millisecond.
 */
import { Effect } from "effect";
import type { Alarm, Alarms } from "./alarms.ts";
import type { Inbox } from "./inbox.ts";
import type { Position, Stepped, Stepper } from "./stepper.ts";
import type { WorkerAction, WorkerContext, WorkerEvent } from "./worker-machine.ts";

export interface Surroundings {
  readonly stepper: Stepper;
  readonly alarms: Alarms;
  readonly inbox: Inbox<WorkerEvent>;
  /** Begins to carry out an action. It must not wait for anything. */
  readonly act: (action: WorkerAction, context: WorkerContext) => void;
}

/** Succeeds with the final position. A step or an action that throws is a defect of the fiber. */
export const living = (
  { stepper, alarms, inbox, act }: Surroundings,
  first: Stepped,
): Effect.Effect<Position> => {
  const timers = new Timers(alarms, inbox);
  const carryOut = ([position, steps]: Stepped): Position => {
    for (const step of steps) {
      if (step.type === "act") act(step.action, position.context);
      else if (step.type === "disarm") timers.disarm(step.timer);
      else timers.arm(step.timer, step.delay_ms, step.event);
    }
    return position;
  };
  const live = Effect.gen(function* () {
    let position = carryOut(first);
    while (position.status === "active") position = carryOut(stepper.step(position, yield* inbox.take));
    return position;
  });
  const over = Effect.sync(() => {
    timers.clear();
    inbox.close();
  });
  return Effect.ensuring(live, over);
};

class Timers {
  private readonly alarms: Alarms;
  private readonly inbox: Inbox<WorkerEvent>;
  private armed: Map<string, Alarm> | undefined;

  constructor(alarms: Alarms, inbox: Inbox<WorkerEvent>) {
    this.alarms = alarms;
    this.inbox = inbox;
  }

  arm(timer: string, delay_ms: number, event: WorkerEvent): void {
    this.disarm(timer);
    if (delay_ms <= 0) {
      this.inbox.post(event);
      return;
    }
    this.armed ??= new Map();
    const ring = (): void => {
      this.armed?.delete(timer);
      this.inbox.post(event);
    };
    this.armed.set(timer, this.alarms.after(delay_ms, ring));
  }

  disarm(timer: string): void {
    this.armed?.get(timer)?.disarm();
    this.armed?.delete(timer);
  }

  clear(): void {
    for (const alarm of this.armed?.values() ?? []) alarm.disarm();
    this.armed = undefined;
  }
}
