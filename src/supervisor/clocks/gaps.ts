/**
 * Gaps in which the daemon could not check its workers (architecture §4, Time): the machine slept, or the daemon was
 * stopped. The wall clock is not used, so it may jump.
 */
import { STOPPED_MIN_MS, SUSPENDED_MIN_MS } from "../../base/limits.ts";

/**
 * One reading of both clocks. `uptime_ms` is the time since boot including sleep, which the monotonic clock leaves out;
 * undefined if the system does not report it.
 */
export interface ClockReading {
  readonly mono_ms: number;
  readonly uptime_ms: number | undefined;
}

export interface ClockGap {
  readonly kind: "suspended" | "stopped";
  /** Real time since the last reading. */
  readonly gap_ms: number;
  /** The end of the gap on the monotonic clock, and how much of the gap that clock counted: it does not count sleep. */
  readonly at_ms: number;
  readonly counted_ms: number;
}

/** Two readings one tick apart should differ by little more than a tick, on both clocks. */
export const gapBetween = (before: ClockReading, after: ClockReading): ClockGap | undefined => {
  const counted = after.mono_ms - before.mono_ms;
  const slept =
    before.uptime_ms === undefined || after.uptime_ms === undefined
      ? 0
      : after.uptime_ms - before.uptime_ms - counted;
  const counted_ms = Math.round(counted);
  const at_ms = after.mono_ms;
  if (slept >= SUSPENDED_MIN_MS)
    return { kind: "suspended", gap_ms: Math.round(slept + counted), at_ms, counted_ms };
  if (counted >= STOPPED_MIN_MS) return { kind: "stopped", gap_ms: counted_ms, at_ms, counted_ms };
  return undefined;
};

export interface Gaps {
  /** Starts here, so that the duration of a boot is not a gap. */
  begin(): void;
  /** Reads both clocks. A gap since the last reading is remembered and reported to the listener at once. */
  look(): void;
  /** Adds a gap that an earlier daemon saw. */
  remember(gap: Pick<ClockGap, "at_ms" | "counted_ms">): void;
  /** The part of the monotonic time since `since_ms` that lies in gaps. */
  forgiven(since_ms: number): number;
}

export const makeGaps = (read: () => ClockReading, onGap: (gap: ClockGap) => void): Gaps => {
  let last: ClockReading | undefined;
  const seen: Pick<ClockGap, "at_ms" | "counted_ms">[] = [];
  return {
    begin: () => {
      last = read();
    },
    look: () => {
      if (last === undefined) return;
      const now = read();
      const gap = gapBetween(last, now);
      last = now;
      if (gap === undefined) return;
      seen.push(gap);
      onGap(gap);
    },
    remember: (gap) => void seen.push(gap),
    forgiven: (since_ms) =>
      seen.reduce(
        (sum, { at_ms, counted_ms }) => sum + Math.max(0, Math.min(counted_ms, at_ms - since_ms)),
        0,
      ),
  };
};
