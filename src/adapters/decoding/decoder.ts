/**
 * The decoder of an agent that prints one JSON object per line. Its kind supplies the meaning of each object.
 */

import { hasMoreValues, type JsonObject, parseLine } from "../../base/json.ts";
import { LINE_HEAD_MAX_BYTES, LONG_LINE_BYTES, LONG_LINE_MAX_VALUES } from "../../base/limits.ts";
import type { Decoded, DecodedItem, Line } from "../adapter.ts";
import type { KindEvents } from "./events.ts";
import { objectOfHead } from "./line-head.ts";

/** Takes the state and returns the next one. Pushes decoded records and replies to the agent to `out`. */
export type OnObject<S> = (state: S, object: JsonObject, out: DecodedItem[]) => S;

const NOTHING: readonly DecodedItem[] = [];

/**
 * Gets the complete beginning of a line over the limit. Such a line may be a request that the agent waits
 * for, or the result of a tool call, which ends the call. Returns undefined if the line may be an answer or
 * the end of a turn.
 */
export type OnLong<S> = (state: S, beginning: JsonObject, out: DecodedItem[]) => S | undefined;

/** A line that is not an object becomes an Unknown event without its text. */
export const decoderOf =
  <S extends { readonly skipped: boolean }>(voice: KindEvents, onObject: OnObject<S>, onLong: OnLong<S>) =>
  (state: S, line: Line): Decoded<S> => {
    if (line.kind === "truncated") return skipped(state, line.head, onLong);
    if (line.text.length > LONG_LINE_BYTES && hasMoreValues(line.text, LONG_LINE_MAX_VALUES)) {
      const { state: next, records } = skipped(state, line.text.slice(0, LINE_HEAD_MAX_BYTES), onLong);
      return { state: next, records: [voice.unknown({ reason: "too_many_values" }), ...records] };
    }
    const object = parseLine(line.text);
    if (object === "blank") return { state, records: NOTHING };
    if (typeof object === "string") return { state, records: [voice.unknown({ reason: object })] };
    const out: DecodedItem[] = [];
    return { state: onObject(state, object, out), records: out };
  };

/** The ingest records that the line was skipped. The state only notes whether something may be missing. */
const skipped = <S extends { readonly skipped: boolean }>(
  before: S,
  head: string | undefined,
  onLong: OnLong<S>,
): Decoded<S> => {
  const out: DecodedItem[] = [];
  const known = head === undefined ? undefined : onLong(before, objectOfHead(head), out);
  const state = known ?? (before.skipped ? before : { ...before, skipped: true });
  return { state, records: out };
};
