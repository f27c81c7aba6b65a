/** Answers and records of the daemon, read so that no text of an agent acts: control characters become pictures of them. Pure. */
import { neutralise } from "../../cli/render/terminal.ts";

/** A text that has one of these in its JSON is looked through; most have none. */
const SUSPECT =
  /\\u00[01]|\\[bfr]|[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\\u(?:00[7-9]|061|20[0-6])/i;

export const harmless = (json: string): unknown =>
  SUSPECT.test(json)
    ? JSON.parse(json, (_key, value: unknown) => (typeof value === "string" ? neutralise(value) : value))
    : JSON.parse(json);
