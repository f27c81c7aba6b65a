/** Replay protection (weblisk.txt): a window around now. Pure: the caller says what time it is. */
import { WEBLISK_REPLAY_WINDOW_S } from "../../base/limits.ts";
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
