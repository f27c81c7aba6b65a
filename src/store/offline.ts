/** A log of which no daemon answers, looked at without changing it: what a person asks when the daemon will not start. */
import { existsSync } from "node:fs";
import SQLite from "better-sqlite3";
import { check } from "./check.ts";
import { checkTail, headInMeta } from "./connection.ts";
import { breaksOf } from "./epoch.ts";
import { guarded, storeError } from "./failure.ts";
import type { CheckReport } from "./port.ts";
import { readWitness } from "./witness.ts";

const EMPTY: CheckReport = { ok: true, records: 0, head: 0, findings: [], notes: [] };

/** What `agent db check` says of a file. A file that is no database is a finding. */
export const checkFile = guarded((file: string): CheckReport => {
  if (!existsSync(file)) return EMPTY;
  const witness = readWitness(file); // first: it is never ahead of the log
  const db = new SQLite(file, { readonly: true });
  try {
    // One state of it, whatever is written meanwhile.
    return db.transaction(() => check(db, breaksOf(db, file, witness)))();
  } catch (cause) {
    return { ok: false, records: 0, head: 0, findings: [storeError(cause).message], notes: [] };
  } finally {
    db.close();
  }
});

/** What a boot would look at: the newest seq, and the breaks of the log's history. Throws STORE_CORRUPT, STORE_FAILED, PERMISSION_DENIED. */
export const lookAtFile = guarded(
  (file: string): { readonly head: number; readonly notes: readonly string[] } => {
    if (!existsSync(file)) return EMPTY;
    const witness = readWitness(file);
    const db = new SQLite(file, { readonly: true });
    try {
      checkTail(db);
      return { head: headInMeta(db), notes: breaksOf(db, file, witness) };
    } finally {
      db.close();
    }
  },
);
