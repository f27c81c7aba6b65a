/**
 * Parts that all answers share: their times, their outcomes, and the error of a request that its client has cancelled.
 */
import { Cause, Exit } from "effect";
import type { Defects } from "../actors/defects.ts";
import type { EnvelopeHead, EnvelopeTime } from "../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import { failure, type Outcome } from "../protocol/outcome.ts";

export const cancelledByClient = (): HoldfastError =>
  new HoldfastError("CANCELLED", "The client cancelled the request.");

export const timeSince = (startedAt: number): EnvelopeTime => ({
  now_ms: Date.now(),
  duration_ms: performance.now() - startedAt,
});

/** The outcome of a request whose fiber has ended. */
export const outcomeOf = (
  exit: Exit.Exit<Outcome<object>, HoldfastError>,
  defects: Defects,
  { head, cancelled }: { readonly head: EnvelopeHead; readonly cancelled?: HoldfastError | undefined },
): Outcome<object> => {
  if (Exit.isSuccess(exit)) return exit.value;
  if (Cause.hasInterruptsOnly(exit.cause)) return failure(cancelled ?? cancelledByClient());
  const error = asHoldfastError(Cause.squash(exit.cause));
  // The error asks the user to report it with the log, so the log must have more details than the answer.
  if (Cause.hasDies(exit.cause) || error.code === "INTERNAL")
    defects.tell(`in ${head.command}`, Cause.squash(exit.cause));
  return failure(error);
};
