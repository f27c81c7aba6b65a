import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffDelay } from "../../src/base/backoff.ts";

const bounds = { min_ms: 1_000, max_ms: 60_000 };

describe("backoff", () => {
  it("doubles from the shortest delay to the longest when chance is out of the way", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => backoffDelay(attempt, bounds, 0));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it("stays inside its bounds for every attempt and every chance", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, random) => {
          const delay = backoffDelay(attempt, bounds, random);
          expect(delay).toBeGreaterThanOrEqual(1_000);
          expect(delay).toBeLessThanOrEqual(60_000);
        },
      ),
    );
  });

  it("spreads workers that reached the ceiling together", () => {
    expect(backoffDelay(20, bounds, 0.1)).not.toBe(backoffDelay(20, bounds, 0.9));
  });

  it("is 0 when 0 is asked for", () => {
    expect(backoffDelay(3, { min_ms: 0, max_ms: 0 }, 0.5)).toBe(0);
  });
});
