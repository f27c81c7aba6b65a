/**
 * One worker as a fiber: take a message, step the machine purely, carry out what it asks for, repeat until it is final.
 * Timers of the machine run on Effect's clock, so a test clock drives a fifteen-minute backoff in a millisecond.
 */
import { Effect, FiberMap, type Scope } from "effect";
import type { AnyMachineSnapshot, AnyStateMachine, EventFromLogic, SnapshotFrom } from "xstate";
import type { Mailbox } from "./mailbox.ts";
import type { Step, Stepper } from "./stepper.ts";

export const runActor = <M extends AnyStateMachine>(
  stepper: Stepper<M>,
  start: readonly [SnapshotFrom<M>, readonly Step<M>[]],
  mailbox: Mailbox<EventFromLogic<M>>,
  /** Carry out one named action. It must not wait for anything long: long work is forked, and answers by a message. */
  act: (name: string, snapshot: SnapshotFrom<M>) => Effect.Effect<void, never, Scope.Scope>,
): Effect.Effect<SnapshotFrom<M>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const timers = yield* FiberMap.make<string>();
    let [snapshot, steps] = start;
    for (;;) {
      for (const step of steps) {
        if (step.type === "act") yield* act(step.name, snapshot);
        else if (step.type === "disarm") yield* FiberMap.remove(timers, step.timer);
        else if (step.delay_ms <= 0) mailbox.offer("control", step.event);
        else {
          const ring = Effect.andThen(
            Effect.sleep(step.delay_ms),
            Effect.sync(() => mailbox.offer("control", step.event)),
          );
          yield* FiberMap.run(timers, step.timer, ring);
        }
      }
      if ((snapshot as AnyMachineSnapshot).status !== "active") return snapshot;
      const message = yield* mailbox.take;
      [snapshot, steps] = stepper.step(snapshot, message);
    }
  });
