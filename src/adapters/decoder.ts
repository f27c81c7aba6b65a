/** The decoder of an agent that prints one JSON object a line, around what its kind makes of an object. */
import type { Decoded, DecodedItem, Line } from "./adapter.ts";
import type { Voice } from "./events.ts";
import { type JsonObject, parseLine } from "./json.ts";
import { fieldsOfHead } from "./line-head.ts";

/** Takes the state and gives the next one; what is told of the object, and what is to be said to the agent, goes into `out`. */
export type OnObject<S> = (state: S, object: JsonObject, out: DecodedItem[]) => S;

const NOTHING: readonly DecodedItem[] = [];

/**
 * What is no object becomes an Unknown event without its text. `onLong` is given the fields that the beginning of a line over
 * the limit has: an agent that asks something in it waits for an answer.
 */
export const decoderOf =
  <S extends { readonly skipped: boolean }>(voice: Voice, onObject: OnObject<S>, onLong?: OnObject<S>) =>
  (state: S, line: Line): Decoded<S> => {
    if (line.kind === "truncated") return skipped(state, line.head, onLong);
    const object = parseLine(line.text);
    if (object === "blank") return { state, records: NOTHING };
    if (typeof object === "string") return { state, records: [voice.unknown({ reason: object })] };
    const out: DecodedItem[] = [];
    return { state: onObject(state, object, out), records: out };
  };

/** The ingest records the line; here it matters that something is missing. */
const skipped = <S extends { readonly skipped: boolean }>(
  before: S,
  head: string | undefined,
  onLong: OnObject<S> | undefined,
): Decoded<S> => {
  const state = before.skipped ? before : { ...before, skipped: true };
  if (head === undefined || onLong === undefined) return { state, records: NOTHING };
  const out: DecodedItem[] = [];
  return { state: onLong(state, fieldsOfHead(head), out), records: out };
};
