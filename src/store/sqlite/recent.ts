/**
 * The newest committed lines in memory. Live watchers read these and leave SQLite to the writer. It may forget any line; a
 * reader with an older cursor reads the log.
 */
import { RECENT_LINES_MAX_BYTES, RECENT_LINES_MAX_RECORDS } from "../../base/limits.ts";
import type { RecordType } from "../../protocol/records.ts";

export interface RecentLine {
  readonly seq: number;
  readonly stream: string;
  readonly type: RecordType;
  /** AgentEvent kind; undefined for other records. */
  readonly kind: string | undefined;
  readonly line: string;
}

export interface RecentLines {
  push(line: RecentLine): void;
  /** The line of a seq; undefined if it is no longer here. */
  at(seq: number): RecentLine | undefined;
  /** The streams of the records with seq > `after`, up to `head`; undefined if a line is no longer here. */
  streams(after: number, head: number): ReadonlySet<string> | undefined;
}

const bytesOf = (entry: RecentLine | undefined): number => (entry === undefined ? 0 : entry.line.length * 2); // V8 uses one or two bytes per code unit

export const makeRecent = (
  maxRecords = RECENT_LINES_MAX_RECORDS,
  maxBytes = RECENT_LINES_MAX_BYTES,
): RecentLines => {
  const slots = new Array<RecentLine | undefined>(maxRecords);
  let bytes = 0;
  let oldest = 0;
  const drop = (seq: number): void => {
    bytes -= bytesOf(slots[seq % maxRecords]);
    slots[seq % maxRecords] = undefined;
  };
  const at = (seq: number): RecentLine | undefined => {
    const entry = slots[seq % maxRecords];
    return entry?.seq === seq ? entry : undefined;
  };
  return {
    push: (entry) => {
      drop(entry.seq);
      slots[entry.seq % maxRecords] = entry;
      bytes += bytesOf(entry);
      oldest = Math.max(oldest, entry.seq - maxRecords + 1);
      while (bytes > maxBytes) drop(oldest++);
    },
    at,
    streams: (after, head) => {
      const found = new Set<string>();
      for (let seq = after + 1; seq <= head; seq += 1) {
        const entry = at(seq);
        if (entry === undefined) return undefined;
        found.add(entry.stream);
      }
      return found;
    },
  };
};
