/** A watch of a worker with everything that its agents spawn, before it began and after. */
import { it } from "@effect/vitest";
import { Effect, Fiber, Stream } from "effect";
import { expect } from "vitest";
import { memoryRuntime, nth, settled, spec } from "../memory-runtime.ts";

const SPAWNED = { types: ["worker_spawned"] } as const;

it.effect(
  "a watch with subtree has the records of all below, each once, and ends with the last of them",
  () =>
    Effect.gen(function* () {
      const { memory, runtime } = yield* memoryRuntime;
      const { id: top } = yield* runtime.spawn(spec({ name: "top" }));
      const { id: mid } = yield* runtime.spawn(spec({ parent: top }));
      yield* nth(memory, 2);
      const watch = (subtree: boolean) =>
        Effect.forkChild(
          Stream.runCollect(
            runtime.watch({
              ids: ["top"],
              subtree,
              from: 0,
              follow: false,
              filter: { types: SPAWNED.types },
            }),
          ),
          { startImmediately: true },
        );
      const all = yield* watch(true);
      const own = yield* watch(false);
      yield* settled;
      // It waits at the end of the log by now, and knows nothing of this one.
      const { id: low } = yield* runtime.spawn(spec({ parent: mid }));
      yield* runtime.spawn(spec({ name: "other" }));
      yield* nth(memory, 4);
      yield* settled;
      yield* runtime.kill({ ids: [top, mid] });
      yield* settled;
      expect((yield* Fiber.join(own)).map(({ worker_id }) => worker_id)).toEqual([top]);
      expect(all.pollUnsafe()).toBeUndefined();
      yield* runtime.kill({ ids: [low] });
      expect((yield* Fiber.join(all)).map(({ worker_id }) => worker_id)).toEqual([top, mid, low]);
    }),
);
