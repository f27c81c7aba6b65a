/** The records of one worker, of a history and of a live stream that overlap: each once, in the order of the log. Pure. */
import { WEB_RECORDS_MAX } from "../../base/limits.ts";
import type { LogRecord } from "../../protocol/records.ts";

/** The newest WEB_RECORDS_MAX of both; the same list if nothing is new. Both are in the order of their seqs. */
export const joined = (known: readonly LogRecord[], more: readonly LogRecord[]): readonly LogRecord[] => {
  const last = known.at(-1)?.seq ?? 0;
  const isBehind = more.every(({ seq }) => seq > last);
  if (isBehind) return more.length === 0 ? known : [...known, ...more].slice(-WEB_RECORDS_MAX);
  const bySeq = new Map([...known, ...more].map((record) => [record.seq, record]));
  if (bySeq.size === known.length) return known;
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq).slice(-WEB_RECORDS_MAX);
};

/** The record that led to this one; undefined if it is its own cause, or is not among these. */
export const causeOf = (record: LogRecord, records: readonly LogRecord[]): LogRecord | undefined =>
  record.causation_id === record.id ? undefined : records.find(({ id }) => id === record.causation_id);

/** The records that this one led to. */
export const effectsOf = ({ id }: LogRecord, records: readonly LogRecord[]): readonly LogRecord[] =>
  records.filter((record) => record.causation_id === id && record.id !== id);

/** The matter that a record is about, within its worker: a request, a question, a message, a call of a tool, or a turn. */
const matterOf = ({ payload, incarnation }: LogRecord): string | undefined => {
  const { approval_id, question_id, message_id, turn, data } = (payload ?? {}) as {
    readonly approval_id?: string;
    readonly question_id?: string;
    readonly message_id?: string;
    readonly turn?: number | null;
    readonly data?: { readonly tool?: { readonly tool_use_id?: string | null } } | null;
  };
  const id = approval_id ?? question_id ?? message_id ?? data?.tool?.tool_use_id;
  if (id != null) return id;
  return turn == null ? undefined : `${incarnation}.${turn}`;
};

/** The other records about the same matter: the answer to a request, the result of a call, the end of a turn. */
export const relatedTo = (record: LogRecord, records: readonly LogRecord[]): readonly LogRecord[] => {
  const matter = matterOf(record);
  if (matter === undefined) return [];
  return records.filter((one) => one.seq !== record.seq && matterOf(one) === matter);
};
