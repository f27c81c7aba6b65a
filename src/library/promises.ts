/** How a call of the library answers: a promise that rejects with a HoldfastError and nothing else. */
import { Effect } from "effect";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type { PerWorker } from "../runtime/replies.ts";

/** Defects become HoldfastErrors too. */
export const promised = async <A>(effect: Effect.Effect<A, HoldfastError>): Promise<A> => {
  try {
    return await Effect.runPromise(effect);
  } catch (cause) {
    throw asHoldfastError(cause);
  }
};

export const closed = (): HoldfastError =>
  new HoldfastError("UNAVAILABLE", "The runtime is closed.", {
    suggestion: "Open the state directory again.",
  });

export const listOf = (ids: string | readonly string[]): string[] =>
  typeof ids === "string" ? [ids] : [...ids];

/** The result of the one worker that was named; its failure is the call's. */
export const only = ([result]: readonly PerWorker[]): PerWorker => {
  if (result === undefined)
    throw new HoldfastError("INTERNAL", "There is no result for the worker that was named.");
  if (result.error !== null) throw new HoldfastError(result.error.code, result.error.message);
  return result;
};
