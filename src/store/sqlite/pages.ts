/** Reads the whole log in order, a page at a time. */
import type { Database } from "better-sqlite3";
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import { COLUMNS, type Row } from "./checksum.ts";

/** Reads the page after a seq. A page that is not full is the last. */
export const pagesOf = (db: Database): ((after: number) => readonly Row[]) => {
  const page = db
    .prepare<[number, number], Row>(`SELECT ${COLUMNS} FROM records WHERE seq > ? ORDER BY seq LIMIT ?`)
    .raw();
  return (after) => page.all(after, READ_PAGE_RECORDS) as Row[];
};

export function* allRows(db: Database, above = Number.MIN_SAFE_INTEGER): Generator<Row> {
  const pageAfter = pagesOf(db);
  let after = above;
  for (;;) {
    const rows = pageAfter(after);
    yield* rows;
    if (rows.length < READ_PAGE_RECORDS) return;
    after = rows.at(-1)![0];
  }
}
