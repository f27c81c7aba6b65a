/**
 * One step of a worker's machine as a pure function: (position, event) → (position, actions). XState's own step
 * function decides; none of its rules are repeated here. Its public `transition()` builds a throw-away actor at each
 * call (280 µs); one scope, made once and reused, takes 11 to 19 µs. Timers come out as actions (`arm`, `disarm`), and
 * the caller runs them on its own clock.
 */
import { type ActorScope, createActor, type ExecutableActionObject, type SnapshotFrom } from "xstate";
import {
  type MachineEvent,
  type WorkerAction,
  type WorkerContext,
  type WorkerInput,
  workerMachine,
} from "./worker-machine.ts";

type Snapshot = SnapshotFrom<typeof workerMachine>;

/**
 * The state of a machine (XState's snapshot) and its context. All workers in one state share everything but the
 * context.
 */
export class Position {
  readonly place: Snapshot;
  readonly context: WorkerContext;
  constructor(place: Snapshot, context: WorkerContext) {
    this.place = place;
    this.context = context;
  }
  get value(): Snapshot["value"] {
    return this.place.value;
  }
  get status(): Snapshot["status"] {
    return this.place.status;
  }
}

export type MachineStep =
  | { readonly type: "act"; readonly action: WorkerAction }
  | {
      readonly type: "arm";
      readonly timer: string;
      readonly delay_ms: number;
      readonly event: MachineEvent;
    }
  | { readonly type: "disarm"; readonly timer: string };

export type StepResult = readonly [Position, readonly MachineStep[]];

export interface Stepper {
  initial(input: WorkerInput): StepResult;
  step(position: Position, event: MachineEvent): StepResult;
  /** A position in any state, for a daemon that adopts a running worker. Arms no timers. */
  at(value: Snapshot["value"], context: WorkerContext): Position;
}

export const makeStepper = (): Stepper => {
  let steps: MachineStep[] = [];
  // Never started: all steps share its identity through one scope.
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

  const places = new Map<string, Snapshot>();
  const positionOf = (snapshot: Snapshot): Position => {
    const key = JSON.stringify(snapshot.value);
    const place = places.get(key) ?? snapshot;
    places.set(key, place);
    return new Position(place, snapshot.context);
  };
  return {
    initial: (input) => {
      steps = [];
      return [positionOf(workerMachine.getInitialSnapshot(scope as never, input)), steps];
    },
    step: (position, event) => {
      const { place, context } = position;
      const before = place.context === context ? place : ({ ...place, context } as Snapshot);
      steps = [];
      const after = workerMachine.transition(before, event, scope as never) as Snapshot;
      return [after === before ? position : positionOf(after), steps];
    },
    at: (value, context) => positionOf(workerMachine.resolveState({ value, context }) as Snapshot),
  };
};

/**
 * Translates an XState action into a step. XState resolves delays itself, and passes no raise without a delay to an
 * executor.
 */
const stepOf = ({ type, params }: ExecutableActionObject): MachineStep => {
  const { id, sendId, delay, event } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (type === "xstate.cancel") return { type: "disarm", timer: sendId as string };
  if (type !== "xstate.raise") return { type: "act", action: type as WorkerAction };
  return { type: "arm", timer: id as string, delay_ms: delay as number, event: event as MachineEvent };
};
