/** The life of a worker's machine in a fiber, on the test clock. */
import { it } from "@effect/vitest";
import { Effect, Exit } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { makeAlarms } from "../../../src/actors/machine/alarms.ts";
import { Life } from "../../../src/actors/machine/living.ts";
import { makeStepper } from "../../../src/actors/machine/stepper.ts";
import type { MachineEvent, WorkerAction } from "../../../src/actors/machine/worker-machine.ts";

const stepper = makeStepper();
const firstStep = () => stepper.step(stepper.initial({ incarnation: 0 })[0], { type: "START" });

/** A machine in its fiber and what it asked for; `onAct` answers an action from inside. */
const makeLife = (onAct: Readonly<Record<string, MachineEvent>> = {}, throwsAt?: string) =>
  Effect.map(
    makeAlarms(() => undefined),
    (alarms) => {
      const acts: string[] = [];
      const act = (action: WorkerAction) => {
        acts.push(action);
        if (action === throwsAt) throw new TypeError("boom");
        const answer = onAct[action];
        if (answer === undefined) return;
        life.mailbox.post(answer);
        acts.push(`${action} done`);
      };
      const life: Life = new Life(stepper, alarms, { act });
      const live = Effect.ensuring(
        Effect.suspend(() => life.live(firstStep())),
        Effect.sync(() => life.end()),
      );
      const start = Effect.forkChild(live, { startImmediately: true });
      return { acts, start, mailbox: life.mailbox, tell: (event: MachineEvent) => life.mailbox.post(event) };
    },
  );

const started = Effect.gen(function* () {
  const made = yield* makeLife();
  return { ...made, fiber: yield* made.start };
});

describe("on the test clock", () => {
  it.effect("a fifteen-minute backoff passes", () =>
    Effect.gen(function* () {
      const { acts, tell } = yield* started;
      tell({ type: "EXITED" });
      tell({ type: "RESTART_AFTER", delay_ms: 15 * 60_000 });
      yield* TestClock.adjust("14 minutes");
      expect(acts).toEqual(["launch", "settle"]);
      yield* TestClock.adjust("1 minute");
      expect(acts).toEqual(["launch", "settle", "launch"]);
    }),
  );

  it.effect("a stop that ends in time never kills", () =>
    Effect.gen(function* () {
      const { acts, fiber, tell } = yield* started;
      tell({ type: "LAUNCHED", timeout_ms: 0 });
      tell({ type: "STOP", grace_ms: 10_000, signal: "SIGTERM" });
      yield* TestClock.adjust("9 seconds");
      tell({ type: "EXITED" });
      yield* TestClock.adjust("1 hour");
      tell({ type: "END", state: "cancelled" });
      expect(acts).toEqual(["launch", "terminate", "settle"]);
      expect(fiber.pollUnsafe()).toEqual(Exit.void);
    }),
  );

  it.effect("a kill is repeated while the process does not end", () =>
    Effect.gen(function* () {
      const { acts, tell } = yield* started;
      tell({ type: "LAUNCHED", timeout_ms: 0 });
      tell({ type: "STOP", grace_ms: 100, signal: "SIGTERM" });
      yield* TestClock.adjust("5 seconds");
      expect(acts.filter((name) => name === "killTree").length).toBe(3);
    }),
  );
});

describe("run to completion", () => {
  it.effect("a message told from inside a step waits for its end", () =>
    Effect.gen(function* () {
      const { acts, start } = yield* makeLife({ launch: { type: "EXITED" } });
      yield* start;
      expect(acts).toEqual(["launch", "launch done", "settle"]);
    }),
  );

  it.effect("an event before the start waits for it", () =>
    Effect.gen(function* () {
      const { acts, start, mailbox, tell } = yield* makeLife();
      tell({ type: "EXITED" });
      expect([acts, mailbox.waiting()]).toEqual([[], 1]);
      yield* start;
      expect([acts, mailbox.waiting()]).toEqual([["launch", "settle"], 0]);
    }),
  );

  it.effect("when it is interrupted, nothing is done whatever it is told, and no timer rings", () =>
    Effect.gen(function* () {
      const { acts, fiber, mailbox, tell } = yield* started;
      tell({ type: "LAUNCHED", timeout_ms: 1_000 });
      fiber.interruptUnsafe();
      yield* TestClock.adjust("1 hour");
      tell({ type: "EXITED" });
      expect([acts, mailbox.waiting()]).toEqual([["launch"], 0]);
      expect(Exit.hasInterrupts(fiber.pollUnsafe() as Exit.Exit<unknown>)).toBe(true);
    }),
  );
});

it.effect("a step that throws is the fiber's exit, and it takes no step any more", () =>
  Effect.gen(function* () {
    const { acts, start, tell } = yield* makeLife({}, "terminate");
    const fiber = yield* start;
    tell({ type: "LAUNCHED", timeout_ms: 60_000 });
    tell({ type: "STOP", grace_ms: 1_000, signal: "SIGTERM" });
    expect(fiber.pollUnsafe()).toEqual(Exit.die(new TypeError("boom")));
    tell({ type: "EXITED" });
    yield* TestClock.adjust("1 hour");
    expect(acts).toEqual(["launch", "terminate"]);
  }),
);
