/** Time and chance, as they are passed to decisions. */
import type { ClockStamp } from "../../protocol/clock-stamp.ts";

/**
 * The present for a decision: a monotonic clock, the stamp for records, and a random number in [0, 1). The machine's wall
 * clock and zone serve only to interpret times that others give; nothing is timed by them.
 */
export interface Now {
  readonly mono_ms: number;
  readonly clock: ClockStamp;
  readonly random: number;
  readonly wall: { readonly ms: number; readonly zone: string };
}
