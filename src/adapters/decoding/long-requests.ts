/**
 * Handles an agent's request in a line over LINE_MAX_BYTES. Its content was not read, so it is denied by the
 * id at the beginning of the line. If the id is unknown too, the agent would wait for ever, so its input is
 * ended and an error says why.
 */
import type { WorkerError } from "../../protocol/records.ts";
import type { DecodedItem } from "../adapter.ts";
import type { KindEvents } from "./events.ts";

export const TOO_LONG = "The request is too long to be read.";

export const UNANSWERABLE: WorkerError = {
  code: "OUTPUT_TOO_LARGE",
  message: "The agent made a request in a line over the limit, which cannot be answered.",
};

/** `line` denies the request. */
export const tooLongToRead = (voice: KindEvents, line: string): readonly DecodedItem[] => [
  voice.status("The agent made a request in a line over the limit: it was denied.", { denied: true }, "tool"),
  { type: "reply", line },
];
