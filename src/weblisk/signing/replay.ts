/** Replay protection (weblisk.txt): a window around now, and ids that come once. Pure: the caller says what time it is. */
import { WEBLISK_REPLAY_WINDOW_S, WEBLISK_SEEN_MAX, WEBLISK_SEEN_S } from "../../base/limits.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

/** Throws unless |now - timestamp| is at most 300 seconds. Both are epoch seconds. */
export const checkTimestamp = (timestamp: unknown, now: number): void => {
  if (typeof timestamp !== "number" || !Number.isSafeInteger(timestamp))
    throw new WebliskRefusal("INVALID_REQUEST", "The timestamp is missing; send whole epoch seconds.", {
      reason: "timestamp_missing",
    });
  if (Math.abs(now - timestamp) > WEBLISK_REPLAY_WINDOW_S)
    throw new WebliskRefusal(
      "INVALID_SIGNATURE",
      `The timestamp is over ${WEBLISK_REPLAY_WINDOW_S} seconds from now, so this may be a replay: sign again.`,
      { reason: "timestamp_outside_window" },
    );
};

export interface SeenBounds {
  readonly max: number;
  readonly keep_s: number;
}

/**
 * Ids that were seen, the oldest first, each until its time is over. A full table takes no further id rather than forget one
 * that still protects: forgetting would let a replay through.
 */
export class SeenIds {
  private readonly until = new Map<string, number>();
  private readonly bounds: SeenBounds;

  constructor(
    bounds: SeenBounds = { max: WEBLISK_SEEN_MAX, keep_s: WEBLISK_SEEN_S },
    entries: Iterable<readonly [id: string, until: number]> = [],
  ) {
    this.bounds = bounds;
    for (const [id, until] of entries) this.until.set(id, until);
  }

  /** `new` once for each id, then `seen` until its time is over; `full` while nothing more can be remembered. */
  note(id: string, now: number): "new" | "seen" | "full" {
    for (const [old, until] of this.until) {
      if (until >= now) break;
      this.until.delete(old);
    }
    if ((this.until.get(id) ?? -1) >= now) return "seen";
    if (this.until.size >= this.bounds.max) return "full";
    this.until.delete(id);
    this.until.set(id, now + this.bounds.keep_s);
    return "new";
  }

  /** For a file: what a table that is made of them knows. */
  entries(): readonly (readonly [id: string, until: number])[] {
    return [...this.until];
  }
}
