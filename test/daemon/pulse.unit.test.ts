import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BEAT_PERIOD_MS, TICK_WAIT_MS } from "../../src/base/limits.ts";
import { Pulse } from "../../src/daemon/pulse.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const counted = (pulse: Pulse, period_ms: number) => {
  const late: number[] = [];
  const leave = pulse.every(period_ms, (late_ms) => void late.push(late_ms));
  return { late, leave };
};

test("each is told on its own period, by one timer, until it leaves", () => {
  const pulse = new Pulse();
  const beats = counted(pulse, BEAT_PERIOD_MS);
  const looks = counted(pulse, 2 * BEAT_PERIOD_MS);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(10 * BEAT_PERIOD_MS);
  expect(beats.late).toEqual(Array(10).fill(0));
  expect(looks.late).toHaveLength(5);
  looks.leave();
  vi.advanceTimersByTime(2 * BEAT_PERIOD_MS);
  expect(looks.late).toHaveLength(5);
  pulse.end();
  expect(vi.getTimerCount()).toBe(0);
});

test("it joins what wakes the loop anyway: as many beats, and none of them between", () => {
  const pulse = new Pulse();
  const beats = counted(pulse, BEAT_PERIOD_MS);
  const looks = counted(pulse, 2 * BEAT_PERIOD_MS);
  // A tick of two periods, in the middle between two beats at first.
  vi.advanceTimersByTime(1.4 * BEAT_PERIOD_MS);
  expect(beats.late).toHaveLength(1);
  pulse.join();
  expect(beats.late).toHaveLength(1);
  for (let tick = 1; tick <= 5; tick += 1) {
    vi.advanceTimersByTime(2 * BEAT_PERIOD_MS);
    pulse.join();
    expect(beats.late).toHaveLength(1 + 2 * tick);
    expect(looks.late).toHaveLength(tick);
  }
  expect(Math.max(...beats.late)).toBeLessThan(BEAT_PERIOD_MS / 2);
  pulse.end();
});

test("with a tick on its own period it wakes the loop by no timer of its own, and beats on without the tick", () => {
  const pulse = new Pulse();
  const beats = counted(pulse, BEAT_PERIOD_MS);
  vi.advanceTimersByTime(0.6 * BEAT_PERIOD_MS);
  pulse.join();
  expect(beats.late).toHaveLength(1);
  for (let tick = 1; tick <= 5; tick += 1) {
    vi.advanceTimersByTime(1.01 * BEAT_PERIOD_MS);
    expect(beats.late).toHaveLength(tick);
    pulse.join();
    expect(beats.late).toHaveLength(tick + 1);
  }
  vi.advanceTimersByTime(BEAT_PERIOD_MS + TICK_WAIT_MS);
  expect(beats.late).toHaveLength(7);
  expect(beats.late).toEqual(Array(7).fill(0));
  pulse.end();
});

test("a beat tells how late it comes, also one that comes with something else", () => {
  const pulse = new Pulse();
  const beats = counted(pulse, BEAT_PERIOD_MS);
  const now = performance.now();
  const blocked = vi.spyOn(performance, "now").mockReturnValue(now + 3 * BEAT_PERIOD_MS);
  pulse.join();
  blocked.mockRestore();
  expect(beats.late).toEqual([2 * BEAT_PERIOD_MS]);
  pulse.end();
});
