/** A log of which no daemon answers, looked at without changing it: what a person asks when the daemon will not start. */
import { existsSync } from "node:fs";
import { DOCTOR_LOOK } from "../base/limits.ts";
import { workerStream } from "../protocol/records.ts";
import { check } from "./check.ts";
import { checkTail, headInMeta } from "./connection.ts";
import { irregularity, openDatabase } from "./database.ts";
import { editedStreams } from "./edited.ts";
import { breaksOf } from "./epoch.ts";
import { guarded, storeError } from "./failure.ts";
import { refuseNewer, schemaOf } from "./migrations/migrate.ts";
import type { CheckReport } from "./port.ts";
import { readWitness } from "./witness.ts";

const EMPTY: CheckReport = { ok: true, records: 0, head: 0, findings: [], notes: [] };

/** The report of `agent db check` about a file. A file that is no database is a finding. */
export const checkFile = guarded((file: string): CheckReport => {
  if (!existsSync(file)) return EMPTY;
  const irregular = irregularity(file);
  if (irregular !== undefined) return { ...EMPTY, ok: false, findings: [irregular] };
  const witness = readWitness(file); // first: it is never ahead of the log
  const db = openDatabase(file, { readonly: true });
  try {
    // One state of it, whatever is written meanwhile.
    return db.transaction(() => check(db, breaksOf(db, file, witness)))();
  } catch (cause) {
    return { ok: false, records: 0, head: 0, findings: [storeError(cause).message], notes: [] };
  } finally {
    db.close();
  }
});

/** Streams of which a projection says something else than their records do, beside a daemon too. */
export const editedInFile = guarded((file: string): readonly string[] => {
  if (!existsSync(file) || irregularity(file) !== undefined) return [];
  const db = openDatabase(file, { readonly: true });
  try {
    return db.transaction(() => editedStreams(db, DOCTOR_LOOK))();
  } finally {
    db.close();
  }
});

interface RunKey {
  readonly worker_id: string;
  readonly incarnation: number;
}

/**
 * Those that no record begins, whatever the projections say. A log that cannot be read is told by who opens it: nothing is known of it
 * here.
 */
export const unknownRuns = <R extends RunKey>(file: string, runs: readonly R[]): readonly R[] => {
  try {
    const db = openDatabase(file, { readonly: true });
    try {
      if (schemaOf(db) === 0) return runs;
      const begun = db
        .prepare<[string, number], 1>(
          `SELECT 1 FROM records WHERE stream = ? AND type NOT IN ('agent.event', 'worker_log_chunk')
           AND type = 'worker_state_changed' AND incarnation >= ? ORDER BY version DESC LIMIT 1`,
        )
        .pluck();
      return runs.filter(
        ({ worker_id, incarnation }) => begun.get(workerStream(worker_id), incarnation) !== 1,
      );
    } finally {
      db.close();
    }
  } catch {
    return [];
  }
};

/** The facts that a boot would look at: the newest seq, and the breaks of the log's history. Throws STORE_CORRUPT, STORE_FAILED, PERMISSION_DENIED. */
export const lookAtFile = guarded(
  (file: string): { readonly head: number; readonly notes: readonly string[] } => {
    if (!existsSync(file)) return EMPTY;
    const witness = readWitness(file);
    const db = openDatabase(file, { readonly: true });
    try {
      refuseNewer(schemaOf(db));
      checkTail(db);
      return { head: headInMeta(db), notes: breaksOf(db, file, witness) };
    } finally {
      db.close();
    }
  },
);
