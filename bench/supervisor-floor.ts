/**
 * The floor of `supervisor.ts`, in a process of its own: bare Effect fibers. Each supervisor is one fiber that forks a
 * child, awaits its exit and forks it again; nothing is decided, recorded or bounded.
 */
import { Effect, Exit, Fiber } from "effect";
import { measure } from "./supervisor-measure.ts";

await measure(async (count) => {
  const crash: (() => void)[] = new Array(count);
  let begun = 0;
  let awaited = { begun: count, reached: Promise.withResolvers<void>() };

  const agent = (n: number) =>
    Effect.callback<void, string>((resume) => {
      crash[n] = () => resume(Effect.fail("crashed"));
      begun += 1;
      if (begun === awaited.begun) awaited.reached.resolve();
    });
  const supervisor = (n: number) =>
    Effect.gen(function* () {
      for (;;) {
        const fiber = yield* Effect.forkChild(agent(n));
        const exit = yield* Fiber.await(fiber);
        if (Exit.isSuccess(exit)) return;
      }
    });

  for (let n = 0; n < count; n += 1) Effect.runFork(supervisor(n));
  await awaited.reached.promise;
  return async () => {
    awaited = { begun: begun + count, reached: Promise.withResolvers<void>() };
    for (let n = 0; n < count; n += 1) crash[n]?.();
    await awaited.reached.promise;
  };
});
