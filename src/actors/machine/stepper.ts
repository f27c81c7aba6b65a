/**
 * One step of a worker's machine as a pure function: (position, event) → (position, actions). XState's own step decides:
 * nothing here knows its rules. Its public `transition()` builds an actor that is thrown away at each call (280 µs);
 * one scope, made once and reused, takes 11 to 19 µs. Timers come out as actions (`arm`, `disarm`), so that the caller
 * runs them on its own clock.
 */
import { type ActorScope, createActor, type ExecutableActionObject, type SnapshotFrom } from "xstate";
import {
  type WorkerAction,
  type WorkerContext,
  type WorkerEvent,
  type WorkerInput,
  workerMachine,
} from "./worker-machine.ts";

/** The place of a machine and what it knows there: XState's snapshot. */
export type Position = SnapshotFrom<typeof workerMachine>;

export type Step =
  | { readonly type: "act"; readonly action: WorkerAction }
  | {
      readonly type: "arm";
      readonly timer: string;
      readonly delay_ms: number;
      readonly event: WorkerEvent;
    }
  | { readonly type: "disarm"; readonly timer: string };

export type Stepped = readonly [Position, readonly Step[]];

export interface Stepper {
  initial(input: WorkerInput): Stepped;
  step(position: Position, event: WorkerEvent): Stepped;
  /** A position in a state of its own choosing: a new daemon places a worker that it adopts. Arms nothing. */
  at(value: Position["value"], context: WorkerContext): Position;
}

export const makeStepper = (): Stepper => {
  let steps: Step[] = [];
  // Never started: it lends its identity to the scope that all steps share.
  const self = createActor(workerMachine, { input: { incarnation: 0 } });
  const scope = {
    self,
    id: self.id,
    sessionId: self.sessionId,
    logger: () => undefined,
    defer: () => undefined,
    stopChild: () => undefined,
    emit: () => undefined,
    system: self.system,
    actionExecutor: (action: ExecutableActionObject) => steps.push(stepOf(action)),
  } as unknown as ActorScope<never, never, never, never>;

  const stepped = (take: () => Position): Stepped => {
    steps = [];
    return [take(), steps];
  };
  return {
    initial: (input) => stepped(() => workerMachine.getInitialSnapshot(scope as never, input)),
    step: (position, event) =>
      stepped(() => workerMachine.transition(position, event, scope as never) as Position),
    at: (value, context) => workerMachine.resolveState({ value, context }) as Position,
  };
};

/** XState's call in our words. It resolves delays itself, and hands a raise without one to no executor. */
const stepOf = ({ type, params }: ExecutableActionObject): Step => {
  const { id, sendId, delay, event } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (type === "xstate.cancel") return { type: "disarm", timer: sendId as string };
  if (type !== "xstate.raise") return { type: "act", action: type as WorkerAction };
  return { type: "arm", timer: id as string, delay_ms: delay as number, event: event as WorkerEvent };
};
