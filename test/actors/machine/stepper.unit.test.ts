/** The reused scope changes nothing: every state of a worker and every event, against XState's public `transition`. */
import { expect, it } from "vitest";
import { type AnyMachineSnapshot, getInitialSnapshot, initialTransition, transition } from "xstate";
import { makeStepper, type Position } from "../../../src/actors/machine/stepper.ts";
import { type MachineEvent, workerMachine } from "../../../src/actors/machine/worker-machine.ts";

const after = (timer: string) => ({ type: `xstate.after.${timer}` }) as unknown as MachineEvent;
const EVENTS: readonly MachineEvent[] = [
  { type: "START" },
  { type: "LAUNCHED", timeout_ms: 0 },
  { type: "LAUNCHED", timeout_ms: 7_000 },
  { type: "TIME_LEFT", timeout_ms: 3_000 },
  { type: "EXITED" },
  { type: "PAUSE" },
  { type: "UNPAUSE" },
  { type: "STOP", grace_ms: 500, signal: "SIGTERM" },
  { type: "STOP", grace_ms: 0, signal: "SIGINT" },
  { type: "RESTART_AFTER", delay_ms: 0 },
  { type: "RESTART_AFTER", delay_ms: 900 },
  { type: "WAIT" },
  { type: "END", state: "completed" },
  { type: "END", state: "failed" },
  { type: "END", state: "cancelled" },
  { type: "END", state: "parked" },
  { type: "END", state: "held" },
  after("timeout.worker.running.bounded"),
  after("grace.worker.stopping.terminating"),
  after("killRepeat.worker.stopping.killing"),
  after("backoff.worker.backing_off"),
];
const INCARNATIONS_MAX = 2;

interface Action {
  readonly type: string;
  readonly params?: unknown;
}
/** The calls of XState, in the stepper's words. */
const stepOf = ({ type, params }: Action): unknown => {
  const { id, sendId, delay, event } = (params ?? {}) as Record<string, unknown>;
  if (type === "xstate.raise") return { type: "arm", timer: id, delay_ms: delay, event };
  return type === "xstate.cancel" ? { type: "disarm", timer: sendId } : { type: "act", action: type };
};

/** Every snapshot that events lead to, by XState alone. */
const everySnapshot = (): AnyMachineSnapshot[] => {
  const first = initialTransition(workerMachine, { incarnation: 0 })[0];
  const found = new Map<string, AnyMachineSnapshot>();
  const queue: (typeof first)[] = [first];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const key = JSON.stringify([next.value, next.context]);
    if (found.has(key) || next.context.incarnation > INCARNATIONS_MAX) continue;
    found.set(key, next);
    if (next.status === "active")
      for (const event of EVENTS) queue.push(transition(workerMachine, next, event)[0]);
  }
  return [...found.values()];
};

const told = ([position, steps]: readonly [Position, unknown]) => ({
  value: position.value,
  status: position.status,
  context: position.context,
  steps,
});

/** Ids of the states in which a worker can rest: `timed` is left as soon as it is entered. */
const leaves = (node: typeof workerMachine.root): string[] => {
  const children = Object.values(node.states) as (typeof node)[];
  return children.length === 0 ? [node.id] : children.flatMap(leaves);
};

it("the list of events is the machine's own, and leads to every state", () => {
  expect(new Set(EVENTS.map(({ type }) => type))).toEqual(new Set(workerMachine.events));
  const reached = everySnapshot().map(({ value }) =>
    typeof value === "string" ? `worker.${value}` : `worker.${Object.entries(value)[0]?.join(".")}`,
  );
  expect([...new Set(reached), "worker.running.timed"].sort()).toEqual(leaves(workerMachine.root).sort());
});

it("every state of a worker × every event gives what XState's own transition gives", () => {
  const stepper = makeStepper();
  const snapshots = everySnapshot();
  const expected = snapshots.map((snapshot) =>
    EVENTS.map((event) => {
      const [{ value, status, context }, actions] = transition(workerMachine, snapshot as never, event);
      return { value, status, context, steps: actions.map(stepOf) };
    }),
  );
  const made = snapshots.map(({ value, context }) =>
    EVENTS.map((event) => told(stepper.step(stepper.at(value as never, context as never), event))),
  );
  expect(made).toEqual(expected);
  expect(snapshots.length * EVENTS.length).toBeGreaterThan(1_000);
});

it("an event that a state does not know changes nothing", () => {
  const stepper = makeStepper();
  const [pending] = stepper.initial({ incarnation: 0 });
  expect(stepper.step(pending, { type: "EXITED" })).toEqual([pending, []]);
  expect(stepper.step(pending, { type: "EXITED" })[0]).toBe(pending);
});

it("begins where XState begins", () => {
  const [first] = makeStepper().initial({ incarnation: 4 });
  const theirs = getInitialSnapshot(workerMachine, { incarnation: 4 });
  expect([first.value, first.context]).toEqual([theirs.value, theirs.context]);
});
