/**
 * A request of an agent in a line over LINE_MAX_BYTES: nobody has read what it asks, so it is denied, by the id that stands at
 * the line's beginning. An agent whose request cannot be named would wait for ever: its input is ended, and it is told why.
 */
import type { WorkerError } from "../../protocol/records.ts";
import type { DecodedItem } from "../adapter.ts";
import type { KindEvents } from "./events.ts";

export const TOO_LONG = "The request is too long to be read.";

export const UNANSWERABLE: WorkerError = {
  code: "OUTPUT_TOO_LARGE",
  message: "The agent asked for something in a line over the limit, and nobody can answer it.",
};

/** `line` denies it. */
export const tooLongToRead = (voice: KindEvents, line: string): readonly DecodedItem[] => [
  voice.status(
    "The agent asked for something in a line over the limit: it was denied.",
    { denied: true },
    "tool",
  ),
  { type: "reply", line },
];
