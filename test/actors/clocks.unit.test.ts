import { describe, expect, it } from "vitest";
import { beat, clocksAt, isBeatDue, isStalled, progress } from "../../src/actors/clocks.ts";

const bounds = { stall_ms: 1_000, heartbeat_ms: 100 };

describe("heartbeat and progress are two clocks", () => {
  it("a living process without progress is stalled", () => {
    const beaten = beat(clocksAt(0), "running", 1_000).clocks;
    expect(isStalled(beaten, bounds, 1_000)).toBe(true);
    expect(isStalled(progress(beaten, 900), bounds, 1_000)).toBe(false);
  });

  it("a stopped process is not stalled, and the time it was stopped is forgiven", () => {
    const stopped = beat(clocksAt(0), "stopped", 500).clocks;
    expect(isStalled(stopped, bounds, 5_000)).toBe(false);
    const resumed = beat(stopped, "running", 5_000).clocks;
    expect(isStalled(resumed, bounds, 5_500)).toBe(false);
    expect(isStalled(resumed, bounds, 6_000)).toBe(true);
  });

  it("a change of the process is news once", () => {
    const first = beat(clocksAt(0), "stopped", 1);
    expect(first.changed).toBe(true);
    expect(beat(first.clocks, "stopped", 2).changed).toBe(false);
  });

  it("beats no more often than asked", () => {
    expect(isBeatDue(clocksAt(0), bounds, 99)).toBe(false);
    expect(isBeatDue(clocksAt(0), bounds, 100)).toBe(true);
  });

  it("a stall of 0 is never", () => {
    expect(isStalled(clocksAt(0), { ...bounds, stall_ms: 0 }, 1e12)).toBe(false);
  });
});
