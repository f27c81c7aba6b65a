import { describe, expect, it } from "vitest";
import { initialTransition, transition } from "xstate";
import { makeStepper } from "../../../src/actors/machine/stepper.ts";
import { type MachineEvent, workerMachine } from "../../../src/actors/machine/worker-machine.ts";

const stepper = makeStepper();

/** Runs a worker through events; answers its states and the names of the actions asked for. */
const run = (...events: MachineEvent[]) => {
  let [snapshot, steps] = stepper.initial({ incarnation: 0 });
  const acts: string[] = [];
  const timers: string[] = [];
  for (const event of events) {
    [snapshot, steps] = stepper.step(snapshot, event);
    for (const step of steps) {
      if (step.type === "act") acts.push(step.action);
      if (step.type === "arm") timers.push(`${step.timer.split(".")[2]} ${step.delay_ms}`);
    }
  }
  return {
    value: snapshot.value,
    status: snapshot.status,
    context: snapshot.context,
    acts,
    timers,
    snapshot,
  };
};

const start = { type: "START" } as const;
const launched = { type: "LAUNCHED", timeout_ms: 0 } as const;
const exited = { type: "EXITED" } as const;
const stop = { type: "STOP", grace_ms: 500, signal: "SIGTERM" } as const;

describe("a worker's life", () => {
  it("goes from pending over starting to running, numbering its incarnation", () => {
    expect(run(start)).toMatchObject({ value: "starting", acts: ["launch"], context: { incarnation: 1 } });
    expect(run(start, launched).value).toEqual({ running: "unbounded" });
  });

  it("settles after an exit until the supervisor answers", () => {
    expect(run(start, launched, exited)).toMatchObject({ value: "settling", acts: ["launch", "settle"] });
    expect(run(start, launched, exited, { type: "END", state: "failed" })).toMatchObject({
      value: "failed",
      status: "done",
    });
  });

  it("settles a start that failed like any exit", () => {
    expect(run(start, exited)).toMatchObject({ value: "settling", acts: ["launch", "settle"] });
  });

  it("backs off for as long as the supervisor says, then begins the next incarnation", () => {
    const waiting = run(start, launched, exited, { type: "RESTART_AFTER", delay_ms: 900 });
    expect(waiting).toMatchObject({ value: "backing_off", timers: ["backoff 900"] });
    const again = stepper.step(waiting.snapshot, {
      type: "xstate.after.backoff.worker.backing_off",
    } as never);
    expect(again[0]).toMatchObject({ value: "starting", context: { incarnation: 2 } });
  });

  it("terminates, and kills when the grace is over", () => {
    const stopping = run(start, launched, stop);
    expect(stopping).toMatchObject({
      value: { stopping: "terminating" },
      acts: ["launch", "terminate"],
      timers: ["grace 500"],
    });
    const [late, steps] = stepper.step(stopping.snapshot, {
      type: "xstate.after.grace.worker.stopping.terminating",
    } as never);
    expect(late.value).toEqual({ stopping: "killing" });
    expect(steps).toContainEqual({ type: "act", action: "killTree" });
  });

  it("takes a second stop as now", () => {
    expect(run(start, launched, stop, stop)).toMatchObject({
      value: { stopping: "killing" },
      acts: ["launch", "terminate", "killTree"],
    });
  });

  it("remembers a stop that comes while it starts, and carries it out once it can", () => {
    expect(run(start, stop).value).toBe("starting");
    expect(run(start, stop, launched)).toMatchObject({
      value: { stopping: "terminating" },
      timers: ["grace 500"],
    });
  });

  it("arms its wall clock only where there is a limit", () => {
    expect(run(start, { type: "LAUNCHED", timeout_ms: 5_000 }).timers).toEqual(["timeout 5000"]);
    expect(run(start, launched).timers).toEqual([]);
  });

  it("lets no wall clock run while it is paused, and as much as is left afterwards", () => {
    const bounded = { type: "LAUNCHED", timeout_ms: 5_000 } as const;
    const pause = { type: "PAUSE" } as const;
    const paused = run(start, bounded, pause);
    expect(paused).toMatchObject({ value: { running: "unbounded" }, acts: ["launch", "applyPause"] });
    const on = run(start, bounded, pause, { type: "UNPAUSE" }, { type: "TIME_LEFT", timeout_ms: 3_000 });
    expect(on).toMatchObject({ value: { running: "bounded" }, acts: ["launch", "applyPause", "applyPause"] });
    expect(on.timers).toEqual(["timeout 5000", "timeout 3000"]);
  });

  it.each([[start], [start, launched, stop], [start, launched, exited]])(
    "is not paused where no agent runs that could be",
    (...events) => {
      const { value, acts } = run(...events);
      expect(run(...events, { type: "PAUSE" }, { type: "UNPAUSE" })).toMatchObject({ value, acts });
    },
  );

  it("ends from backing off without a process", () => {
    expect(
      run(
        start,
        launched,
        exited,
        { type: "RESTART_AFTER", delay_ms: 900 },
        { type: "END", state: "cancelled" },
      ).value,
    ).toBe("cancelled");
  });

  it("ignores what is late: an exit after the end, a launch after the exit", () => {
    expect(run(start, exited, launched).value).toBe("settling");
    expect(run(start, launched, exited, exited).acts).toEqual(["launch", "settle"]);
  });
});

describe("in every state", () => {
  const inEach: readonly (readonly [string, readonly MachineEvent[]])[] = [
    ["pending", []],
    ["starting", [start]],
    ["running", [start, launched]],
    ["stopping", [start, launched, stop]],
    ["settling", [start, launched, exited]],
    ["backing_off", [start, launched, exited, { type: "RESTART_AFTER", delay_ms: 9 }]],
  ];

  it.each(inEach)("(%s) the supervisor's word ends it", (_, events) => {
    expect(run(...events, { type: "END", state: "cancelled" })).toMatchObject({
      value: "cancelled",
      status: "done",
    });
  });
});

it("names every guard, action and delay, so that a visual editor can read it", () => {
  const inline: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value === "function") inline.push(path);
    else if (typeof value === "object" && value !== null)
      for (const [key, part] of Object.entries(value)) walk(part, `${path}.${key}`);
  };
  walk(workerMachine.config, "machine");
  expect(inline).toEqual(["machine.context"]);
});

describe("the reused scope", () => {
  it("gives the same states and actions as XState's own transition()", () => {
    const events: MachineEvent[] = [
      start,
      launched,
      stop,
      exited,
      { type: "RESTART_AFTER", delay_ms: 5 },
      start,
      exited,
      { type: "END", state: "completed" },
    ];
    let [ours] = stepper.initial({ incarnation: 0 });
    let [theirs] = initialTransition(workerMachine, { incarnation: 0 });
    for (const event of events) {
      const [next, steps] = stepper.step(ours, event);
      const [expected, actions] = transition(workerMachine, theirs, event);
      expect(next.value).toEqual(expected.value);
      expect(next.context).toEqual(expected.context);
      expect(steps.filter((step) => step.type === "act").map((step) => step.action)).toEqual(
        actions.map((action) => action.type).filter((type) => !type.startsWith("xstate.")),
      );
      ours = next;
      theirs = expected;
    }
  });
});
