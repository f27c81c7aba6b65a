import { it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { Actor } from "../../../src/actors/machine/actor.ts";
import { makeAlarms } from "../../../src/actors/machine/alarms.ts";
import { makeStepper } from "../../../src/actors/machine/stepper.ts";
import type { WorkerEvent } from "../../../src/actors/machine/worker-machine.ts";
import { MAILBOX_MAX_EVENTS } from "../../../src/base/limits.ts";

const stepper = makeStepper();
const firstStep = () => stepper.step(stepper.initial({ incarnation: 0 })[0], { type: "START" });

/** A worker's actor and what it asked for; `onAct` answers an action from inside. */
const makeActor = (onAct: Readonly<Record<string, WorkerEvent>> = {}, throwsAt?: string) =>
  Effect.map(
    makeAlarms(() => undefined),
    (alarms) => {
      const acts: string[] = [];
      const ends: unknown[] = [];
      const actor: Actor = new Actor(stepper, alarms, {
        act: (name) => {
          acts.push(name);
          if (name === throwsAt) throw new TypeError("boom");
          const answer = onAct[name];
          if (answer === undefined) return;
          actor.tell(answer);
          acts.push(`${name} done`);
        },
        ended: (last) => {
          ends.push(last.value);
        },
        broke: (cause) => {
          ends.push(cause);
        },
      });
      return { acts, ends, actor, tell: (event: WorkerEvent) => actor.tell(event) };
    },
  );

const started = Effect.map(makeActor(), (made) => {
  made.actor.start(firstStep());
  return made;
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
      const { acts, ends, tell } = yield* started;
      tell({ type: "LAUNCHED", timeout_ms: 0 });
      tell({ type: "STOP", grace_ms: 10_000, signal: "SIGTERM" });
      yield* TestClock.adjust("9 seconds");
      tell({ type: "EXITED" });
      yield* TestClock.adjust("1 hour");
      tell({ type: "END", state: "cancelled" });
      expect(acts).toEqual(["launch", "terminate", "settle"]);
      expect(ends).toEqual(["cancelled"]);
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
      const { acts, actor } = yield* makeActor({ launch: { type: "EXITED" } });
      actor.start(firstStep());
      expect(acts).toEqual(["launch", "launch done", "settle"]);
    }),
  );

  it.effect("what is told before the start waits for it", () =>
    Effect.gen(function* () {
      const { acts, actor, tell } = yield* makeActor();
      tell({ type: "EXITED" });
      expect([acts, actor.waiting()]).toEqual([[], 1]);
      actor.start(firstStep());
      expect([acts, actor.waiting()]).toEqual([["launch", "settle"], 0]);
    }),
  );

  it.effect("after its end, or when it is stopped, nothing is done whatever it is told", () =>
    Effect.gen(function* () {
      const { acts, ends, actor, tell } = yield* started;
      tell({ type: "LAUNCHED", timeout_ms: 1_000 });
      actor.stop();
      yield* TestClock.adjust("1 hour");
      tell({ type: "BROKEN" });
      expect([acts, ends]).toEqual([["launch"], []]);
    }),
  );
});

it.effect(
  "a step that throws is told once, to whoever tells it anything, and it takes no step any more",
  () =>
    Effect.gen(function* () {
      const { acts, ends, actor, tell } = yield* makeActor({}, "terminate");
      actor.start(firstStep());
      tell({ type: "LAUNCHED", timeout_ms: 60_000 });
      tell({ type: "STOP", grace_ms: 1_000, signal: "SIGTERM" });
      expect(ends).toEqual([new TypeError("boom")]);
      tell({ type: "EXITED" });
      yield* TestClock.adjust("1 hour");
      expect(acts).toEqual(["launch", "terminate"]);
      expect(ends).toHaveLength(1);
    }),
);

it.effect("an overfull mailbox breaks the machine, so that no event is lost in silence", () =>
  Effect.gen(function* () {
    const { acts, ends, actor, tell } = yield* makeActor();
    for (let n = 0; n < MAILBOX_MAX_EVENTS; n += 1) tell({ type: "EXITED" });
    expect([ends, actor.waiting()]).toEqual([[], MAILBOX_MAX_EVENTS]);
    tell({ type: "EXITED" });
    expect(ends).toEqual([new Error(`More than ${MAILBOX_MAX_EVENTS} events wait for one machine.`)]);
    actor.start(firstStep());
    expect([acts, actor.waiting()]).toEqual([[], 0]);
  }),
);
