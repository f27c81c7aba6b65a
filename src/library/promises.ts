/** Runs a call of the library as a promise that rejects only with a HoldfastError. */
import { Effect } from "effect";
import { asHoldfastError, HoldfastError } from "../protocol/errors.ts";
import type { PerWorker } from "../runtime/replies.ts";
import { checkSignal, invalid } from "./checked.ts";
import { inProgram } from "./suggestions.ts";

/** Runs the calls of one runtime: each is refused once the runtime is closed. An abort of the signal ends the call. */
export type RunCall = <A>(make: () => Effect.Effect<A, HoldfastError>, signal?: AbortSignal) => Promise<A>;

/** Turns defects into HoldfastErrors too, and their next steps into those of a program. An abort of the signal interrupts the effect, and rejects with CANCELLED. */
export const promised = async <A>(
  effect: Effect.Effect<A, HoldfastError>,
  signal?: AbortSignal,
): Promise<A> => {
  checkSignal(signal);
  if (signal?.aborted) throw aborted(signal);
  try {
    return await Effect.runPromise(effect, signal && { signal });
  } catch (cause) {
    throw signal?.aborted ? aborted(signal) : inProgram(asHoldfastError(cause));
  }
};

/** The error of a call whose signal was aborted; its cause is the reason of the signal. */
export const aborted = (signal: AbortSignal): HoldfastError =>
  new HoldfastError("CANCELLED", "The call was given up by its signal.", {
    cause: signal.reason,
    suggestion: "Call it again with a signal that is not aborted.",
  });

export const closed = (): HoldfastError =>
  new HoldfastError("UNAVAILABLE", "The runtime is closed.", {
    suggestion: "Open the state directory again.",
  });

export const listOf = (ids: string | readonly string[]): string[] => {
  if (typeof ids === "string") return [ids];
  if (Array.isArray(ids)) return [...ids];
  throw invalid(["ids: they are neither an id nor a list of ids"]);
};

/** The result for a single worker; its failure fails the call. */
export const only = ([result]: readonly PerWorker[]): PerWorker => {
  if (result === undefined)
    throw new HoldfastError("INTERNAL", "There is no result for the worker that was named.");
  if (result.error !== null) throw inProgram(new HoldfastError(result.error.code, result.error.message));
  return result;
};

/** Reports a problem as a warning of the process, for a program that takes no reports. */
export const warn = (message: string, cause?: unknown): void =>
  process.emitWarning(cause instanceof Error ? `${message}: ${cause.message}` : message, "HoldfastWarning");
