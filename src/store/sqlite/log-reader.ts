/** Reads the log on a connection of its own, in another thread than its writer: neither waits for the other. */
import { STORE_BUSY_MAX_MS } from "../../base/limits.ts";
import type { LogReader, RecordFilter } from "../event-log.ts";
import { Cursor } from "./cursor.ts";
import { openDatabase } from "./database.ts";
import { guarded, storeError } from "./failure.ts";
import { keepRows } from "./projections/kept-rows.ts";
import { makeRecent } from "./recent.ts";

/** Throws LOCK_HELD where the writer has the log alone, which it does on a full disk, and the errors of the store. */
export const openLogReader = guarded((file: string): LogReader => {
  const db = openDatabase(file, { readonly: true, timeout: STORE_BUSY_MAX_MS });
  try {
    const newest = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'head'").pluck();
    const head = (): number => newest.get() ?? 0;
    const cursor = new Cursor(db, head, makeRecent(1, 0), keepRows().absent);
    return {
      head: guarded(head),
      readLines: guarded((after: number, limit: number, filter?: RecordFilter) =>
        cursor.readLines(after, limit, filter),
      ),
      close: () => void db.close(),
    };
  } catch (cause) {
    db.close();
    throw storeError(cause);
  }
});
