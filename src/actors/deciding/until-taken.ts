/** Offers to the store what has happened already, until the store takes it. */
import { Effect } from "effect";
import { STORE_RETRY_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";

/** `told` hears of each new cause once. INTERNAL is a mistake of ours, which the next attempt would make again: it is a defect. */
export const untilTaken = <A>(
  attempt: Effect.Effect<A, HoldfastError>,
  told: (refusal: HoldfastError) => void,
): Effect.Effect<A> => {
  let newest: string | undefined;
  const again: Effect.Effect<A> = Effect.catch(attempt, (refusal) => {
    if (refusal.code === "INTERNAL") return Effect.die(refusal);
    // A hundred workers that wait for an hour would otherwise fill what is left of the disk.
    if (refusal.code !== newest) told(refusal);
    newest = refusal.code;
    return Effect.andThen(Effect.sleep(STORE_RETRY_MS), again);
  });
  return again;
};
