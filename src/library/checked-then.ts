/** A call of the Effect door: its arguments are checked when it runs, and a mistake in them is a failure of it. */
import { Effect } from "effect";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";

export const checkedThen = <Data, A>(
  check: () => Data,
  call: (data: Data) => Effect.Effect<A, HoldfastError>,
): Effect.Effect<A, HoldfastError> =>
  Effect.flatMap(Effect.try({ try: check, catch: asHoldfastError }), call);
