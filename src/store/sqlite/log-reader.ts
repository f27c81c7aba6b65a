/** Reads the log on a connection of its own, in another thread than its writer: neither waits for the other. */
import type { Database } from "better-sqlite3";
import { READ_PAGE_MAX_CHARS, READ_SCAN_MAX_RECORDS, STORE_BUSY_MAX_MS } from "../../base/limits.ts";
import type { RecordType } from "../../protocol/records.ts";
import type { BareRecord, LogReader } from "../event-log.ts";
import { condition, lists } from "./cursor.ts";
import { openDatabase } from "./database.ts";
import { guarded, storeError } from "./failure.ts";

type BareRow = [
  seq: number,
  type: RecordType,
  worker_id: string | null,
  incarnation: number | null,
  recorded_ms: number,
  payload: string,
];

/** Records as the columns that the caller needs: a line and its checksum would cost more than the read. */
const readsOf = (db: Database, head: () => number): LogReader["readBare"] => {
  const where = `seq > @after AND seq <= @end AND ${condition({ types: [], kinds: [] })}`;
  const select = db
    .prepare<object, BareRow>(
      `SELECT seq, type, worker_id, incarnation, recorded_at, payload FROM records WHERE ${where} ORDER BY seq LIMIT @limit`,
    )
    .raw();
  return (after, limit, filter) => {
    const end = Math.min(head(), after + READ_SCAN_MAX_RECORDS);
    const records: BareRecord[] = [];
    let chars = 0;
    for (const row of select.iterate({ after, end, limit, ...lists(filter) })) {
      const [seq, type, worker_id, incarnation, recorded_ms, payload] = row as unknown as BareRow;
      records.push({
        seq,
        type,
        worker_id: worker_id ?? undefined,
        incarnation: incarnation ?? undefined,
        recorded_ms,
        payload,
      });
      chars += payload.length;
      if (records.length >= limit || chars >= READ_PAGE_MAX_CHARS) return { records, scanned: seq };
    }
    return { records, scanned: Math.max(after, end) };
  };
};

/** Throws LOCK_HELD where the writer has the log alone, which it does on a full disk, and the errors of the store. */
export const openLogReader = guarded((file: string): LogReader => {
  const db = openDatabase(file, { readonly: true, timeout: STORE_BUSY_MAX_MS });
  try {
    const newest = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'head'").pluck();
    const head = (): number => newest.get() ?? 0;
    return {
      head: guarded(head),
      readBare: guarded(readsOf(db, head)),
      close: () => void db.close(),
    };
  } catch (cause) {
    db.close();
    throw storeError(cause);
  }
});
