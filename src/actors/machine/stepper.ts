/**
 * Steps an XState machine purely: (position, event) → (position, actions). XState decides every transition: the first time
 * that a state meets an event, the machine itself takes the step and is watched (which guards it asked and what they
 * answered, which assigns, actions, timers followed, in which state it came to rest). From then on the same course is
 * replayed as long as the guards answer the same; another answer is a new course, and XState is asked again. The machine's own changes of a context are never kept, only what it calls.
 *
 * Guards, assigns and delays must be named in `setup`: what is written inline cannot be watched, and is refused.
 * Timers come out as actions (`arm`, `disarm`), so that the caller runs them on its own clock.
 */
import {
  type ActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createActor,
  type EventFromLogic,
  type InputFrom,
  type SnapshotFrom,
} from "xstate";

export type Step<M extends AnyStateMachine> =
  | { readonly type: "act"; readonly name: string }
  | {
      readonly type: "arm";
      readonly timer: string;
      readonly delay_ms: number;
      readonly event: EventFromLogic<M>;
    }
  | { readonly type: "disarm"; readonly timer: string };

/** The position of a machine: all that a step needs of XState's snapshot, in two words of memory. */
export class Position<M extends AnyStateMachine> {
  readonly place: Place<M>;
  readonly context: SnapshotFrom<M>["context"];
  constructor(place: Place<M>, context: SnapshotFrom<M>["context"]) {
    this.place = place;
    this.context = context;
  }
  get value(): SnapshotFrom<M>["value"] {
    return this.place.value;
  }
  get status(): SnapshotFrom<M>["status"] {
    return this.place.status;
  }
}

export type Stepped<M extends AnyStateMachine> = readonly [Position<M>, readonly Step<M>[]];

export interface Stepper<M extends AnyStateMachine> {
  initial(input: InputFrom<M>): Stepped<M>;
  step(position: Position<M>, event: EventFromLogic<M>): Stepped<M>;
  /** A position in a state of its own choosing: what a new daemon makes of a worker that it adopts. Arms nothing. */
  at(value: SnapshotFrom<M>["value"], context: SnapshotFrom<M>["context"]): Position<M>;
}

/** A state of the machine, and the courses that are known to leave it, by type of event. */
interface Place<M extends AnyStateMachine> {
  readonly value: SnapshotFrom<M>["value"];
  readonly status: SnapshotFrom<M>["status"];
  readonly courses: Map<string, Course<M>>;
}

type Context = Record<string, unknown>;
interface Args {
  readonly context: unknown;
  readonly event: unknown;
}

/** The calls that the machine made, in order. */
type Move<M extends AnyStateMachine> =
  | { readonly type: "guard"; readonly name: string; readonly answer: boolean }
  | { readonly type: "assign"; readonly name: string }
  | { readonly type: "step"; readonly step: Step<M> }
  | {
      readonly type: "arm";
      readonly timer: string;
      readonly delay: string;
      readonly event: EventFromLogic<M>;
    };

/** Moves up to the next guard; then on by its answer, or to rest at a place. */
interface Course<M extends AnyStateMachine> {
  moves: readonly Exclude<Move<M>, { type: "guard" }>[];
  /** The moves when all of them are constant: they are handed out as they are. */
  steps: readonly Step<M>[] | undefined;
  guard: string | undefined;
  yes: Course<M> | undefined;
  no: Course<M> | undefined;
  place: Place<M> | undefined;
}

/** The shapes of XState that we read; its own types have no public names for them. */
interface RawAction {
  readonly type: string;
  readonly params: unknown;
}
type Assignment = ((args: Args) => Context) | Record<string, unknown>;
interface Implementations {
  readonly guards: Readonly<Record<string, (args: Args, params: unknown) => boolean>>;
  readonly actions: Readonly<Record<string, { readonly type?: string; readonly assignment?: Assignment }>>;
  readonly delays: Readonly<Record<string, number | ((args: Args, params: unknown) => number)>>;
}

export const makeStepper = <M extends AnyStateMachine>(machine: M, input: InputFrom<M>): Stepper<M> => {
  refuseInline(machine.root);
  const { guards, actions, delays } = machine.implementations as unknown as Implementations;
  const places = new Map<string, Place<M>>();
  let seen: Move<M>[] = [];
  let delayAsked: string | undefined;

  const assigned = (name: string, args: Args): Context => {
    const { assignment } = actions[name] as { assignment: Assignment };
    if (typeof assignment === "function") return { ...(args.context as Context), ...assignment(args) };
    const context = { ...(args.context as Context) };
    for (const key in assignment) {
      const value = assignment[key];
      context[key] = typeof value === "function" ? value(args) : value;
    }
    return context;
  };
  const delayOf = (name: string, args: Args): number => {
    const delay = delays[name] as Implementations["delays"][string];
    return typeof delay === "function" ? delay(args, undefined) : delay;
  };

  /** The same machine, whose guards, assigns and delays are seen when they are asked. */
  const watched = machine.provide({
    guards: mapped(guards, (name) => (args: Args, params: unknown) => {
      const answer: boolean = guards[name]?.(args, params) === true;
      seen.push({ type: "guard", name, answer });
      return answer;
    }),
    actions: mapped(
      Object.fromEntries(Object.entries(actions).filter(([, action]) => action.type === "xstate.assign")),
      (name) =>
        assign((args: Args) => {
          seen.push({ type: "assign", name });
          return assigned(name, args);
        }),
    ),
    delays: mapped(delays, (name) => (args: Args) => {
      delayAsked = name;
      return delayOf(name, args);
    }),
  } as never) as AnyStateMachine;

  const onAction = (action: RawAction): void => {
    if (action.type === "xstate.cancel") {
      const { sendId } = action.params as { sendId?: string };
      seen.push({ type: "step", step: { type: "disarm", timer: sendId ?? "" } });
      return;
    }
    if (action.type !== "xstate.raise") {
      seen.push({ type: "step", step: { type: "act", name: action.type } });
      return;
    }
    const { id = "", delay, event } = action.params as { id?: string; delay?: number; event: unknown };
    const raised = event as EventFromLogic<M>;
    seen.push(
      delayAsked === undefined
        ? { type: "step", step: { type: "arm", timer: id, delay_ms: delay ?? 0, event: raised } }
        : { type: "arm", timer: id, delay: delayAsked, event: raised },
    );
    delayAsked = undefined;
  };
  const self = createActor(watched, { input } as never);
  const scope = {
    self,
    id: "",
    sessionId: "",
    logger: () => undefined,
    defer: () => undefined,
    stopChild: () => undefined,
    emit: () => undefined,
    system: self.system,
    actionExecutor: onAction,
  } as unknown as ActorScope<never, never, never, never>;

  const placeOf = ({ value, status }: AnyMachineSnapshot): Place<M> => {
    const key = JSON.stringify(value);
    const known = places.get(key);
    if (known !== undefined) return known;
    const place: Place<M> = { value, status: status as SnapshotFrom<M>["status"], courses: new Map() };
    places.set(key, place);
    return place;
  };

  /** Lets XState take the step, and adds what it did to the course. */
  const learn = (first: Course<M>, { place, context }: Position<M>, event: EventFromLogic<M>): void => {
    seen = [];
    const before = watched.resolveState({ value: place.value, context } as never);
    const after = watched.transition(before as never, event as never, scope as never) as AnyMachineSnapshot;
    let course = first;
    let moves: Exclude<Move<M>, { type: "guard" }>[] = [];
    for (const move of seen) {
      if (move.type !== "guard") {
        moves.push(move);
        continue;
      }
      settle(course, moves);
      moves = [];
      course.guard = move.name;
      course[move.answer ? "yes" : "no"] ??= newCourse();
      course = course[move.answer ? "yes" : "no"] as Course<M>;
    }
    settle(course, moves);
    course.place = placeOf(after);
  };

  const follow = (from: Position<M>, event: EventFromLogic<M>): Stepped<M> => {
    let course = from.place.courses.get(event.type);
    if (course === undefined) {
      course = newCourse<M>();
      from.place.courses.set(event.type, course);
      learn(course, from, event);
    }
    let context = from.context;
    let steps: readonly Step<M>[] = NONE;
    for (;;) {
      if (course.steps !== undefined) {
        if (course.steps.length > 0) steps = steps.length === 0 ? course.steps : [...steps, ...course.steps];
      } else {
        const made = [...steps];
        for (const move of course.moves) {
          if (move.type === "assign") context = assigned(move.name, { context, event }) as typeof context;
          else if (move.type === "step") made.push(move.step);
          else {
            const { timer, event: raised } = move;
            made.push({
              type: "arm",
              timer,
              delay_ms: delayOf(move.delay, { context, event }),
              event: raised,
            });
          }
        }
        steps = made;
      }
      if (course.place !== undefined) {
        if (course.place === from.place && context === from.context) return [from, steps];
        return [new Position(course.place, context), steps];
      }
      const answer: boolean = guards[course.guard as string]?.({ context, event }, undefined) === true;
      const next: Course<M> | undefined = answer ? course.yes : course.no;
      if (next === undefined) {
        learn(from.place.courses.get(event.type) as Course<M>, from, event);
        return follow(from, event);
      }
      course = next;
    }
  };

  return {
    initial: (given) => {
      seen = [];
      const snapshot = machine.getInitialSnapshot(scope as never, given) as AnyMachineSnapshot;
      return [
        new Position(placeOf(snapshot), snapshot.context),
        seen.flatMap((move) => (move.type === "step" ? [move.step] : [])),
      ];
    },
    step: follow,
    at: (value, context) => new Position(placeOf(watched.resolveState({ value, context } as never)), context),
  };
};

const NONE: readonly never[] = [];

const newCourse = <M extends AnyStateMachine>(): Course<M> => ({
  moves: NONE,
  steps: undefined,
  guard: undefined,
  yes: undefined,
  no: undefined,
  place: undefined,
});

const settle = <M extends AnyStateMachine>(course: Course<M>, moves: Course<M>["moves"]): void => {
  course.moves = moves;
  const steps = moves.flatMap((move) => (move.type === "step" ? [move.step] : []));
  course.steps = steps.length === moves.length ? steps : undefined;
};

const mapped = <A, B>(from: Readonly<Record<string, A>>, to: (name: string) => B): Record<string, B> =>
  Object.fromEntries(Object.keys(from).map((name) => [name, to(name)]));

/** An action of XState's own, as the `after` of a state makes it, or as somebody wrote it inline. */
interface Builtin {
  readonly type?: string;
  readonly delay?: unknown;
  readonly event?: unknown;
  readonly sendId?: unknown;
}

const isWatchable = (action: unknown): boolean => {
  if (typeof action !== "function") return typeof action === "string" || !("params" in (action as object));
  const { type, delay, event, sendId } = action as Builtin;
  if (type === "xstate.cancel") return typeof sendId === "string";
  return type === "xstate.raise" && /string|number/.test(typeof delay) && typeof event === "object";
};

const refuseInline = (node: AnyStateMachine["root"]): void => {
  const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
  const actions = [...node.entry, ...node.exit, ...transitions.flatMap((one) => one.actions)];
  const guards = transitions.map((one) => one.guard as unknown);
  if (!actions.every(isWatchable) || guards.some((guard) => guard !== undefined && typeof guard !== "string"))
    throw new Error(
      `State ${node.id} has a guard, an assign or a delay that is written inline: name it in setup.`,
    );
  for (const child of Object.values(node.states)) refuseInline(child);
};
