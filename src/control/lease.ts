/** Deadlines of leases, delays and times to live, on the monotonic clock of today (architecture §4, Time). Pure. */
import type { ClockStamp, Deadline } from "../protocol/clock-stamp.ts";

/** `mono_ms` is of the boot `boot_id`. */
export interface TimeOfDay {
  readonly boot_id: string;
  readonly mono_ms: number;
  readonly wall_ms: number;
}

/** The time of a decision, and its stamp on record. */
export interface DecisionTime extends TimeOfDay {
  readonly clock: ClockStamp;
}

const NS_PER_MS = 1_000_000n;

/**
 * In the same boot its stamp says when. After another boot only the wall clock is left, and it may have jumped: then no more than the
 * whole time is left, and no less than none.
 */
export const monotonicDeadline = ({ clock, at, after_ms }: Deadline, now: TimeOfDay): number => {
  if (clock.boot_id === now.boot_id) return Number(BigInt(clock.mono_ns) / NS_PER_MS) + after_ms;
  const ago = Math.max(0, now.wall_ms - Date.parse(at));
  return now.mono_ms + Math.max(0, after_ms - ago);
};
