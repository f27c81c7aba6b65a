/**
 * Time in which nobody could look (architecture §4, Time): the machine slept, or the daemon itself was stopped. The wall
 * clock is never asked, so it may jump as it likes.
 */
import { STOPPED_MIN_MS, SUSPENDED_MIN_MS } from "../../base/limits.ts";

/** One reading of both clocks. `uptime_ms` is the time since boot with sleep, which the monotonic clock leaves out; undefined where nobody tells it. */
export interface Reading {
  readonly mono_ms: number;
  readonly uptime_ms: number | undefined;
}

export interface Gap {
  readonly kind: "suspended" | "stopped";
  /** Real time since the last look. */
  readonly gap_ms: number;
  /** The end of the gap on the monotonic clock, and how much of it that clock counted: a sleep it leaves out. */
  readonly at_ms: number;
  readonly counted_ms: number;
}

/** Between two looks that are a tick apart there should be little more than a tick, on both clocks. */
export const gapBetween = (before: Reading, after: Reading): Gap | undefined => {
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
  /** From here on: what a boot takes is no gap. */
  begin(): void;
  /** Reads both clocks; a gap since the last look is remembered and told to the listener at once. */
  look(): void;
  /** A gap that an earlier daemon saw. */
  remember(gap: Pick<Gap, "at_ms" | "counted_ms">): void;
  /** The time that the monotonic clock counted, from an instant on, while nobody could look. */
  forgiven(since_ms: number): number;
}

export const makeGaps = (read: () => Reading, onGap: (gap: Gap) => void): Gaps => {
  let last: Reading | undefined;
  const seen: Pick<Gap, "at_ms" | "counted_ms">[] = [];
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
