import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addRestart, inWindow } from "../../../src/supervisor/restart/window.ts";

describe("the restart window (supervisor.erl, add_restart/3)", () => {
  it("allows max restarts inside the period and gives up at the next one", () => {
    let restarts: readonly number[] = [];
    const exceeded = [0, 10, 20, 30].map((now) => {
      const result = addRestart(restarts, now, 3, 60_000);
      restarts = result.restarts;
      return result.exceeded;
    });
    expect(exceeded).toEqual([false, false, false, true]);
  });

  it("forgets a restart only once it is older than the period", () => {
    expect(inWindow([0, 1], 60_000, 60_000)).toEqual([0, 1]);
    expect(inWindow([0, 1], 60_001, 60_000)).toEqual([1]);
  });

  it("gives up at the first restart when none is allowed", () => {
    expect(addRestart([], 5, 0, 1_000).exceeded).toBe(true);
  });

  it("never counts more than max restarts in any period before it gives up", () => {
    const gaps = fc.array(fc.nat(2_000), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 0, max: 5 }), (steps, max) => {
        const accepted: number[] = [];
        let now = 0;
        let restarts: readonly number[] = [];
        for (const step of steps) {
          now += step;
          const result = addRestart(restarts, now, max, 3_000);
          if (result.exceeded) break;
          restarts = result.restarts;
          accepted.push(now);
        }
        for (const end of accepted)
          expect(accepted.filter((at) => at <= end && end - at <= 3_000).length).toBeLessThanOrEqual(max);
      }),
    );
  });
});
