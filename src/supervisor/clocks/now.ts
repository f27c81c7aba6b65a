/** Time and chance, as decisions are given them. */
import type { ClockStamp } from "../../protocol/clock-stamp.ts";

/**
 * Now, as the core sees it: a monotonic clock, the stamp that goes on record, and one random number in [0, 1). The wall clock and the
 * zone of the machine are for understanding what others tell in them; nothing is timed by it.
 */
export interface Now {
  readonly mono_ms: number;
  readonly clock: ClockStamp;
  readonly random: number;
  readonly wall: { readonly ms: number; readonly zone: string };
}
