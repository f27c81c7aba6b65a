/** Repeats an attempt to write or read until the store takes it. */
import { Effect } from "effect";
import { STORE_RETRY_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";

/**
 * Calls `told` once for each new cause. INTERNAL is a mistake of ours that every attempt would repeat, so it becomes a
 * defect.
 */
export const untilTaken = <A>(
  attempt: Effect.Effect<A, HoldfastError>,
  told: (refusal: HoldfastError) => void,
): Effect.Effect<A> => {
  let newest: string | undefined;
  const again: Effect.Effect<A> = Effect.catch(attempt, (refusal) => {
    if (refusal.code === "INTERNAL") return Effect.die(refusal);
    // Report each cause once: a hundred workers that wait for an hour would otherwise fill the rest of the disk.
    if (refusal.code !== newest) told(refusal);
    newest = refusal.code;
    return Effect.andThen(Effect.sleep(STORE_RETRY_MS), again);
  });
  return again;
};
