/** A kill of all that lives ends with nothing running, or says what is left; and a kill returns, whatever happens meanwhile. */
import { describe, expect, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import type { Worker } from "../../../src/actors/worker/worker.ts";
import { KILL_ALL_ROUNDS_MAX } from "../../../src/base/limits.ts";
import { killAll } from "../../../src/runtime/commands/kill-all.ts";
import type { PerWorker } from "../../../src/runtime/replies.ts";
import type { WorkerRow } from "../../../src/store/views.ts";
import { memoryRuntime, nth, spec, until } from "../memory-runtime.ts";

const deaf = { grace_ms: 600_000 };

describe("a kill of all", () => {
  it.effect("kills what is spawned while it works", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      yield* runtime.spawn(spec({ name: "slow", ...deaf }));
      const slow = yield* nth(memory, 1);
      memory.onSignal = (run, signal) => {
        if (run !== slow) run.exit(signal);
      };
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [], all: true }));
      yield* until("the first stop", () => slow.signals.includes("SIGTERM"));
      yield* runtime.spawn(spec({ name: "late" }));
      const late = yield* nth(memory, 2);
      slow.exit("SIGTERM");
      const replies = yield* Fiber.join(killing);
      expect(replies.map(({ name, effect }) => [name, effect])).toEqual([
        ["slow", "deleted"],
        ["late", "deleted"],
      ]);
      expect(late.signals).toContain("SIGTERM");
      expect(yield* runtime.list({})).toEqual([]);
    }),
  );

  it.effect("says what is left where others are started for as long as it works", () =>
    Effect.gen(function* () {
      const live = new Map<string, Worker>();
      const begin = (n: number) => {
        const id = `W${n}`;
        live.set(id, { id, spec: { supervisor: "root" }, child: () => ({ state: "running" }) } as never);
      };
      begin(0);
      let ended = 0;
      const killEach = (refs: readonly string[]) =>
        Effect.sync(() =>
          refs.map((id): PerWorker => {
            live.delete(id);
            begin(++ended);
            return { id, name: null, ok: true, effect: "deleted", status: "cancelled", error: null };
          }),
        );
      const ports = { forest: { trees: () => [] }, live, views: { living: (): readonly WorkerRow[] => [] } };
      const replies = yield* killAll(ports, killEach, {});
      expect(ended).toBe(KILL_ALL_ROUNDS_MAX);
      expect(replies.filter(({ ok }) => !ok)).toMatchObject([
        { id: `W${KILL_ALL_ROUNDS_MAX}`, error: { code: "INVALID_STATE" } },
      ]);
    }),
  );
});

describe("a kill", () => {
  it.effect("returns with the life that it has ended, though somebody starts the worker again", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { id } = yield* runtime.spawn(spec(deaf));
      const run = yield* nth(memory, 1);
      memory.onSignal = () => undefined;
      const killing = yield* Effect.forkChild(runtime.kill({ ids: [id] }));
      yield* until("the stop", () => run.signals.includes("SIGTERM"));
      const restarting = yield* Effect.forkChild(runtime.restart([id]));
      run.exit("SIGTERM");
      yield* Fiber.join(restarting);
      yield* nth(memory, 2);
      expect(yield* Fiber.join(killing)).toMatchObject([{ id, ok: true, effect: "deleted" }]);
    }),
  );
});
