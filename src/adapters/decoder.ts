/** The decoder of an agent that prints one JSON object a line, around what its kind makes of an object. */
import type { Decoded, DecodedItem, Line } from "./adapter.ts";
import type { Voice } from "./events.ts";
import { type JsonObject, parseLine } from "./json.ts";

/** Takes the state and gives the next one; what is told of the object, and what is to be said to the agent, goes into `out`. */
export type OnObject<S> = (state: S, object: JsonObject, out: DecodedItem[]) => S;

const NOTHING: readonly DecodedItem[] = [];

/** What is no object becomes an Unknown event without its text. */
export const decoderOf =
  <S extends { readonly skipped: boolean }>(voice: Voice, onObject: OnObject<S>) =>
  (state: S, line: Line): Decoded<S> => {
    // The ingest records a line over the limit; here it only matters that something is missing.
    if (line.kind === "truncated")
      return { state: state.skipped ? state : { ...state, skipped: true }, records: NOTHING };
    const object = parseLine(line.text);
    if (object === "blank") return { state, records: NOTHING };
    if (typeof object === "string") return { state, records: [voice.unknown({ reason: object })] };
    const out: DecodedItem[] = [];
    return { state: onObject(state, object, out), records: out };
  };
