/** The raw output of a worker as a stream of slices. */
import { Effect, Option, Stream } from "effect";
import { RAW_POLL_MS, RAW_SLICE_BYTES } from "../base/limits.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import { type RawPlace, rawStep } from "../protocol/raw.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checkedRaw, checkText } from "./checked.ts";
import type { RawOptions, RawSlice } from "./options.ts";

export const rawSlices = (
  api: RuntimeCalls,
  ref: string,
  options: RawOptions,
): Stream.Stream<RawSlice, HoldfastError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const asked = yield* Effect.try({
        try: () => {
          checkText("id", ref);
          return checkedRaw(options);
        },
        catch: asHoldfastError,
      });
      // The name may belong to another worker later, so the id is used.
      const id = yield* api.resolve(ref);
      return Stream.paginate(
        { place: { incarnation: undefined, offset: asked.offset }, left: asked.max_bytes, released: 0 },
        (at: RawPosition) => sliceAt(api, id, asked, at),
      );
    }),
  );

interface RawPosition {
  readonly place: RawPlace;
  readonly left: number;
  /** Bytes before this place that are no longer kept, and that no slice has reported yet. */
  readonly released: number;
}

const sliceAt = (
  api: RuntimeCalls,
  id: string,
  { stream, follow }: Pick<Required<RawOptions>, "stream" | "follow">,
  at: RawPosition,
): Effect.Effect<readonly [readonly RawSlice[], Option.Option<RawPosition>], HoldfastError> =>
  Effect.gen(function* () {
    const { offset, incarnation: asked } = at.place;
    const answer = yield* api.raw(id, stream, offset, Math.min(RAW_SLICE_BYTES, at.left), asked);
    const { bytes, next, wait, ...step } = rawStep(answer, follow);
    const { incarnation } = answer;
    const released = at.released + step.released;
    const left = at.left - bytes.length;
    const isOver = next === undefined || left === 0;
    const isTold = bytes.length > 0 || ((isOver || next.incarnation !== incarnation) && released > 0);
    if (wait && !isOver) yield* Effect.sleep(RAW_POLL_MS);
    return [
      isTold ? [{ incarnation, offset, bytes, released }] : [],
      isOver ? Option.none() : Option.some({ place: next, left, released: isTold ? 0 : released }),
    ];
  });
