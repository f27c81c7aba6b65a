/** The answers of `search`: the JSON that the socket carries and the library returns. */
import type { RecordType } from "../protocol/records.ts";
import type { SearchMark } from "../store/search.ts";

/** A record that has all words. */
export interface SearchHit {
  readonly seq: number;
  /** RFC 3339. */
  readonly recorded_at: string;
  readonly type: RecordType;
  /** The kind of an AgentEvent; null for any other record. */
  readonly kind: string | null;
  readonly stream: string;
  /** The worker's id; null for a record of no worker. */
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
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}
