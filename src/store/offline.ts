/** A log of which no daemon answers, looked at without changing it: what a person asks when the daemon will not start. */
import { existsSync } from "node:fs";
import SQLite from "better-sqlite3";
import { check } from "./check.ts";
import { checkTail, headInMeta } from "./connection.ts";
import { guarded, storeError } from "./failure.ts";
import type { CheckReport } from "./port.ts";

const EMPTY: CheckReport = { ok: true, records: 0, head: 0, findings: [] };

/** What `agent db check` says of a file. A file that is no database is a finding. */
export const checkFile = guarded((file: string): CheckReport => {
  if (!existsSync(file)) return EMPTY;
  const db = new SQLite(file, { readonly: true });
  try {
    // One state of it, whatever is written meanwhile.
    return db.transaction(() => check(db))();
  } catch (cause) {
    return { ok: false, records: 0, head: 0, findings: [storeError(cause).message] };
  } finally {
    db.close();
  }
});

/** What a boot would look at. Answers the newest seq; throws STORE_CORRUPT, STORE_FAILED, PERMISSION_DENIED. */
export const lookAtFile = guarded((file: string): number => {
  if (!existsSync(file)) return 0;
  const db = new SQLite(file, { readonly: true });
  try {
    checkTail(db);
    return headInMeta(db);
  } finally {
    db.close();
  }
});
