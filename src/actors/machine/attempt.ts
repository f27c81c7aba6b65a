/** Turns code that may throw or reject into an effect that fails with a HoldfastError and nothing else. */
import { Effect } from "effect";
import { asHoldfastError, type HoldfastError } from "../../protocol/errors.ts";

export const attempt = <A>(body: () => A): Effect.Effect<A, HoldfastError> =>
  Effect.try({ try: body, catch: asHoldfastError });

export const attemptAsync = <A>(body: () => Promise<A>): Effect.Effect<A, HoldfastError> =>
  Effect.tryPromise({ try: body, catch: asHoldfastError });

/** Turns a throw inside an effect into a failure of that effect. */
export const typed = <A, R>(effect: Effect.Effect<A, HoldfastError, R>): Effect.Effect<A, HoldfastError, R> =>
  Effect.catchDefect(effect, (defect) => Effect.fail(asHoldfastError(defect)));
