import { Effect, Exit, Fiber, Scope } from "effect";
import { expect, it } from "vitest";
import { startingFibers } from "../../src/daemon/fibers.ts";

it("ends its fibers with the scope, and begins none after it", async () => {
  const scope = Effect.runSync(Scope.make());
  const run = Effect.runSync(Scope.provide(startingFibers, scope));
  const ended: string[] = [];
  const waits = (name: string) =>
    Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push(name)));
  expect(run(Effect.succeed(1)).pollUnsafe()).toEqual(Exit.succeed(1));
  const [first, second] = [run(waits("first")), run(waits("second"))];
  await Effect.runPromise(Fiber.interrupt(first));
  expect(ended).toEqual(["first"]);
  await Effect.runPromise(Scope.close(scope, Exit.void));
  expect(ended).toEqual(["first", "second"]);
  expect(second.pollUnsafe()).toBeDefined();
  const late = await Effect.runPromise(Fiber.await(run(waits("late"))));
  expect(Exit.isFailure(late)).toBe(true);
});
