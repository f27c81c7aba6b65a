/** Fibers of requests: each lives at most as long as the scope. */
import { Effect, Fiber, type Scope } from "effect";
import { Bag } from "../base/bag.ts";
import type { StartFiber } from "./requests-in-flight.ts";

/** As Effect's FiberSet, but for the set: it kept the requests that were over (base/bag.ts). A fiber that begins after the scope is interrupted. */
export const startingFibers: Effect.Effect<StartFiber, never, Scope.Scope> = Effect.gen(function* () {
  const running = new Bag<Fiber.Fiber<unknown, unknown>>();
  let isOver = false;
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isOver = true;
      return Fiber.interruptAll(running.now());
    }),
  );
  const fork = Effect.runForkWith(yield* Effect.context<never>());
  return (effect) => {
    const fiber = fork(effect);
    if (fiber.pollUnsafe() !== undefined) return fiber;
    const place = running.add(fiber);
    fiber.addObserver(() => running.remove(place));
    if (isOver) fiber.interruptUnsafe();
    return fiber;
  };
});
