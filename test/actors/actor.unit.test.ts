import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { expect } from "vitest";
import { runActor } from "../../src/actors/actor.ts";
import { makeMailbox } from "../../src/actors/mailbox.ts";
import { makeStepper } from "../../src/actors/stepper.ts";
import { type WorkerEvent, workerMachine } from "../../src/actors/worker-machine.ts";

const stepper = makeStepper(workerMachine, { incarnation: 0 });

const actor = () => {
  const mailbox = makeMailbox<WorkerEvent>();
  const acts: string[] = [];
  const life = Effect.scoped(
    runActor(
      stepper,
      stepper.step(stepper.initial({ incarnation: 0 })[0], { type: "START" }),
      mailbox,
      (name) =>
        Effect.sync(() => {
          acts.push(name);
        }),
    ),
  );
  return {
    acts,
    life,
    tell: (event: WorkerEvent) =>
      Effect.andThen(
        Effect.sync(() => mailbox.offer("control", event)),
        Effect.yieldNow,
      ),
  };
};

it.effect("a fifteen-minute backoff passes on the test clock", () =>
  Effect.gen(function* () {
    const worker = actor();
    const fiber = yield* Effect.forkChild(worker.life);
    yield* worker.tell({ type: "EXITED" });
    yield* worker.tell({ type: "RESTART_AFTER", delay_ms: 15 * 60_000 });
    yield* TestClock.adjust("14 minutes");
    expect(worker.acts).toEqual(["launch", "settle"]);
    yield* TestClock.adjust("1 minute");
    expect(worker.acts).toEqual(["launch", "settle", "launch"]);
    yield* Fiber.interrupt(fiber);
  }),
);

it.effect("a stop that ends in time never kills", () =>
  Effect.gen(function* () {
    const worker = actor();
    const fiber = yield* Effect.forkChild(worker.life);
    yield* worker.tell({ type: "LAUNCHED", timeout_ms: 0 });
    yield* worker.tell({ type: "STOP", grace_ms: 10_000, signal: "SIGTERM" });
    yield* TestClock.adjust("9 seconds");
    yield* worker.tell({ type: "EXITED" });
    yield* TestClock.adjust("1 hour");
    yield* worker.tell({ type: "END", state: "cancelled" });
    const last = yield* Fiber.join(fiber);
    expect(worker.acts).toEqual(["launch", "terminate", "settle"]);
    expect(last.value).toBe("cancelled");
  }),
);

it.effect("a kill is repeated while the process does not end", () =>
  Effect.gen(function* () {
    const worker = actor();
    const fiber = yield* Effect.forkChild(worker.life);
    yield* worker.tell({ type: "LAUNCHED", timeout_ms: 0 });
    yield* worker.tell({ type: "STOP", grace_ms: 100, signal: "SIGTERM" });
    yield* TestClock.adjust("5 seconds");
    expect(worker.acts.filter((name) => name === "killTree").length).toBe(3);
    yield* Fiber.interrupt(fiber);
  }),
);
