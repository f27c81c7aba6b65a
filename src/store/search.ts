/** A search of the log by words, and its answer. No SQLite types, because the library's declarations use it. */
import type { LogRecord } from "../protocol/records.ts";

export interface SearchQuery {
  /**
   * The words, which a record must all have. Text in double quotes is a phrase. A word with a star at its end matches as a
   * prefix.
   */
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
  /** The places of the words in `text`. */
  readonly marks: readonly SearchMark[];
}

export interface SearchPage {
  /** Newest first. */
  readonly found: readonly FoundRecord[];
  /** The cursor for older matches: they are before this seq. Null if there are none. */
  readonly next: number | null;
}
