/** A provider's rate limit over a real log: the worker waits until its reset, over the death of daemons, and is woken once. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { RATE_LIMIT_WAITS_MAX } from "../../../src/base/limits.ts";
import { TreeSpec } from "../../../src/protocol/tree.ts";
import { figure } from "../../support/figures.ts";
import { adapterWith, memoryMachine, nth, settled, spec } from "../memory-runtime.ts";

/** An agent whose every end is a rate limit; it resets after so long, or nobody knows when. */
const limited = (retry_after_s?: number) => () =>
  adapterWith({
    finish: () => ({
      records: [],
      outcome: {
        status: "failed",
        completion: { status: { code: 1, signal: null } },
        error: {
          code: "RATE_LIMITED",
          message: "Too much.",
          ...(retry_after_s === undefined ? {} : { retry_after_s }),
        },
      },
    }),
  });

describe("a worker whose provider limits it", () => {
  it.effect(
    "waits until the reset, also under the next daemon, is woken once, and no window counts it (R31)",
    () =>
      Effect.gen(function* () {
        const { memory, boot } = yield* memoryMachine;
        const adapterFor = limited(60);
        const first = yield* boot({ adapterFor });
        const { id } = yield* first.runtime.spawn(spec({ restart: "transient", max_restarts: 0 }));
        (yield* nth(memory, 1)).exit(1);
        yield* settled;
        const until = new Date(60_000).toISOString();
        expect(yield* first.runtime.info(id)).toMatchObject({
          state: "backing_off",
          reason: `rate limited until ${until}`,
          restarts: 0,
          window: { used: 0 },
        });
        yield* TestClock.adjust("20 seconds");
        yield* first.crash;
        const second = yield* boot({ adapterFor });
        yield* settled;
        expect((yield* second.runtime.info(id)).reason).toBe(`rate limited until ${until}`);
        yield* TestClock.adjust("39 seconds");
        yield* settled;
        expect(memory.runs.length).toBe(1);
        yield* TestClock.adjust("1 second");
        yield* nth(memory, 2);
        yield* TestClock.adjust("2 minutes");
        yield* settled;
        expect(memory.runs.length).toBe(2);
        figure("R31", {
          rounds: 1,
          failures: 0,
          note: "a wait of a minute with a dead daemon in the middle",
        });
      }),
  );

  it.effect("gives up after so many waits in a row, and says why", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot({ adapterFor: limited(1) });
      const { id } = yield* runtime.spawn(spec({ restart: "permanent", max_restarts: 0 }));
      for (let n = 1; n <= RATE_LIMIT_WAITS_MAX + 1; n += 1) {
        (yield* nth(memory, n)).exit(1);
        yield* settled;
        yield* TestClock.adjust("1 second");
      }
      expect(yield* runtime.wait([id])).toMatchObject([
        { status: "failed", reason: "gave up: the provider's rate limit was reached 9 times in a row" },
      ]);
    }),
  );

  it.effect("is not started again where its policy is never to", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot({ adapterFor: limited(1) });
      const { id } = yield* runtime.spawn(spec({ restart: "temporary" }));
      (yield* nth(memory, 1)).exit(1);
      expect(yield* runtime.wait([id])).toMatchObject([
        { status: "failed", error: { code: "RATE_LIMITED" } },
      ]);
    }),
  );

  it.effect("of a file waits alone: no sibling is restarted with it", () =>
    Effect.gen(function* () {
      const { memory, boot } = yield* memoryMachine;
      const { runtime } = yield* boot({ adapterFor: limited(60) });
      const worker = (name: string) => ({ type: "worker" as const, name, depends_on: [], spec: spec() });
      yield* runtime.applyTree(
        TreeSpec.parse({
          name: "crew",
          file: "/crew/holdfast.yaml",
          root: {
            type: "supervisor",
            name: "crew",
            config: { strategy: "one_for_all", max_restarts: 0 },
            depends_on: [],
            children: [worker("a"), worker("b")],
          },
        }),
      );
      yield* nth(memory, 2);
      yield* settled;
      memory.runs[0]?.exit(1);
      yield* settled;
      expect((yield* runtime.list()).map(({ state }) => state)).toEqual(["backing_off", "running"]);
      yield* TestClock.adjust("61 seconds");
      yield* nth(memory, 3);
      yield* settled;
      expect((yield* runtime.list()).map(({ state }) => state)).toEqual(["running", "running"]);
    }),
  );
});
