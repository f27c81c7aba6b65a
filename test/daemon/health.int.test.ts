import { it } from "@effect/vitest";
import { Effect } from "effect";
import { expect, test } from "vitest";
import { LAG_LOOK_MS, TRIM_AFTER_LOOKS } from "../../src/base/limits.ts";
import { RestCounter, watchHealth } from "../../src/daemon/health.ts";
import { startPulse } from "../../src/daemon/pulse.ts";

const BLOCK_MS = 300;
const REST_MS = 4 * LAG_LOOK_MS;

/** Keeps the loop busy, so that nothing else has a turn. */
const block = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};
const sleep = (ms: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, ms)));

it.live("a block of an idle loop is seen by the look itself, and those of a busy one are measured", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const health = yield* watchHealth(yield* startPulse, () => undefined);
      // So that it ends when the look is due.
      yield* sleep(LAG_LOOK_MS - BLOCK_MS / 2);
      block(BLOCK_MS);
      yield* sleep(20);
      expect(health.loopLag().max).toBeGreaterThan(BLOCK_MS / 4);
      for (let n = 0; n < 30; n += 1) {
        block(60);
        yield* sleep(1);
      }
      expect(health.loopLag().p99).toBeGreaterThan(20);
    }),
  ),
);

it.live("the time in which a loop rested is no delay of it", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const health = yield* watchHealth(yield* startPulse, () => undefined);
      const work = Effect.gen(function* () {
        for (const began = performance.now(); performance.now() - began < 2.5 * LAG_LOOK_MS; ) {
          block(10);
          yield* sleep(10);
        }
      });
      yield* work;
      expect(health.loopLag().p50).toBeGreaterThan(0);
      yield* sleep(REST_MS);
      yield* work;
      expect(health.loopLag().max).toBeLessThan(REST_MS / 2);
    }),
  ),
);

test("a loop comes to rest once it was not busy for so many looks, and again after it was busy", () => {
  const rest = new RestCounter();
  const looks = (count: number, isBusy: boolean) => Array.from({ length: count }, () => rest.look(isBusy));
  expect(looks(TRIM_AFTER_LOOKS + 2, false).indexOf(true)).toBe(TRIM_AFTER_LOOKS - 1);
  expect(looks(5, false)).not.toContain(true);
  expect(looks(3, true)).not.toContain(true);
  expect(looks(TRIM_AFTER_LOOKS, false).indexOf(true)).toBe(TRIM_AFTER_LOOKS - 1);
});
