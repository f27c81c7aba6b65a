/** A search of the log by words, and its answer. Without SQLite's types: the library's declarations name it. */
import type { LogRecord } from "../protocol/records.ts";

export interface SearchQuery {
  /** Every word of it stands in a record; text in double quotes is a phrase, and a word with a star at its end is a beginning. */
  readonly text: string;
  /** Only records of these workers; empty means all. */
  readonly worker_ids: readonly string[];
  /** Only records of these types, or AgentEvents of these kinds; empty means all. */
  readonly types: readonly string[];
  /** Only records after this seq. */
  readonly after: number;
  /** Only records before this seq. */
  readonly before: number;
  readonly limit: number;
}

/** A beginning and an end in a text, in UTF-16 units; the end is excluded. */
export type SearchMark = readonly [from: number, to: number];

export interface FoundRecord {
  readonly record: LogRecord;
  /** The part of its text around the first match, in one line, at most SEARCH_EXCERPT_MAX_CHARS long. */
  readonly text: string;
  /** The places in `text` at which the words stand. */
  readonly marks: readonly SearchMark[];
}

export interface SearchPage {
  /** Newest first. */
  readonly found: readonly FoundRecord[];
  /** Older records match, too: those before this seq. Null where all are told. */
  readonly next: number | null;
}
