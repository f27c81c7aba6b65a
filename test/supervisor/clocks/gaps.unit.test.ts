import { describe, expect, it } from "vitest";
import { memAvailableOf, uptimeOf } from "../../../src/adapters/process/machine-readings.ts";
import { type ClockGap, gapBetween, makeGaps } from "../../../src/supervisor/clocks/gaps.ts";

const HOUR_MS = 3_600_000;
const before = { mono_ms: 1_000, uptime_ms: 5_000 };

describe("two readings of the clocks", () => {
  it("a second apart are no gap, nor are they a slow second apart", () => {
    expect(gapBetween(before, { mono_ms: 2_000, uptime_ms: 6_000 })).toBeUndefined();
    expect(gapBetween(before, { mono_ms: 4_500, uptime_ms: 8_510 })).toBeUndefined();
  });

  it("of which only the one with sleep has moved: the machine slept", () => {
    const after = { mono_ms: 2_000, uptime_ms: 6_000 + HOUR_MS };
    expect(gapBetween(before, after)).toEqual({
      kind: "suspended",
      gap_ms: HOUR_MS + 1_000,
      at_ms: 2_000,
      counted_ms: 1_000,
    });
  });

  it("that have both moved: the daemon was stopped", () => {
    const after = { mono_ms: 2_000 + HOUR_MS, uptime_ms: 6_000 + HOUR_MS };
    expect(gapBetween(before, after)).toMatchObject({
      kind: "stopped",
      gap_ms: HOUR_MS + 1_000,
      counted_ms: HOUR_MS + 1_000,
    });
  });

  it("of which nobody tells the one with sleep still show a stop", () => {
    const after = { mono_ms: 2_000 + HOUR_MS, uptime_ms: undefined };
    expect(gapBetween({ ...before, uptime_ms: undefined }, after)?.kind).toBe("stopped");
  });
});

describe("gaps", () => {
  const watched = () => {
    const now = { mono_ms: 0, uptime_ms: 0 };
    const told: ClockGap[] = [];
    const gaps = makeGaps(
      () => ({ ...now }),
      (gap) => told.push(gap),
    );
    return { now, told, gaps };
  };

  it("are told once, and not before the first look", () => {
    const { now, told, gaps } = watched();
    now.mono_ms = HOUR_MS;
    gaps.look();
    gaps.begin();
    gaps.look();
    expect(told).toEqual([]);
    now.mono_ms += HOUR_MS;
    gaps.look();
    gaps.look();
    expect(told).toHaveLength(1);
  });

  it("are forgiven to who ran through them, in part to who began within, and not to who began after", () => {
    const { now, gaps } = watched();
    gaps.begin();
    now.mono_ms = 100_000;
    gaps.look();
    expect(gaps.forgiven(0)).toBe(100_000);
    expect(gaps.forgiven(60_000)).toBe(40_000);
    expect(gaps.forgiven(100_000)).toBe(0);
  });

  it("of an earlier daemon count as well", () => {
    const { gaps } = watched();
    gaps.remember({ at_ms: 100_000, counted_ms: 50_000 });
    expect(gaps.forgiven(10_000)).toBe(50_000);
  });
});

describe("/proc", () => {
  it("uptime is read in milliseconds", () => {
    expect(uptimeOf("350735.47 234388.90\n")).toBe(350_735_470);
    expect(uptimeOf("")).toBeUndefined();
  });

  it("meminfo is read in bytes", () => {
    expect(memAvailableOf("MemTotal: 2048 kB\nMemFree: 1 kB\nMemAvailable:    1024 kB\n")).toBe(1_048_576);
    expect(memAvailableOf("MemTotal: 2048 kB\n")).toBeUndefined();
  });
});
