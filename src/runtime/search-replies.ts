/** Answers of `search`, as JSON: what goes over the socket and out of the library. */
import type { RecordType } from "../protocol/records.ts";
import type { SearchMark } from "../store/search.ts";

/** One record that has all words. */
export interface SearchHit {
  readonly seq: number;
  /** RFC 3339. */
  readonly recorded_at: string;
  readonly type: RecordType;
  /** The kind of an AgentEvent; null for any other record. */
  readonly kind: string | null;
  readonly stream: string;
  /** Null for a record that is no worker's. */
  readonly worker_id: string | null;
  readonly worker_name: string | null;
  readonly incarnation: number | null;
  /** The part of its text around the first match, in one line. */
  readonly text: string;
  /** The beginnings and ends of the words in `text`, in UTF-16 units; each end is excluded. */
  readonly marks: readonly SearchMark[];
}

export interface SearchReply {
  /** Newest first. */
  readonly hits: readonly SearchHit[];
  /** For the next page; not there where all were told. */
  readonly cursor?: string;
}
