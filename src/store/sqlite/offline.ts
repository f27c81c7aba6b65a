/** Reads a log without a daemon and without changing it, for people whose daemon does not start. */
import { existsSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { DOCTOR_LOOK } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { workerStream } from "../../protocol/records.ts";
import type { CheckReport } from "../upkeep.ts";
import { check } from "./check.ts";
import { checkTail, headInMeta } from "./connection.ts";
import { irregularity, openDatabase, refuseIrregular } from "./database.ts";
import { editedStreams } from "./edited.ts";
import { breaksOf } from "./epoch.ts";
import { guarded, storeError } from "./failure.ts";
import { refuseNewer, schemaOf } from "./migrations/migrate.ts";
import { readWitness, type Witness } from "./witness.ts";

const EMPTY: CheckReport = { ok: true, records: 0, head: 0, findings: [], notes: [] };

/** For a missing or empty log: the error if its witness saw records before. Undefined if there is something to read. */
const nothingAt = (file: string): { readonly lost: HoldfastError | undefined } | undefined => {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size !== undefined && size > 0) return undefined;
  const seen = readWitness(file)?.seq ?? 0;
  if (seen === 0) return { lost: undefined };
  const what = size === undefined ? "missing" : "empty";
  return {
    lost: new HoldfastError(
      "STORE_CORRUPT",
      `The event log ${file} is ${what}; the earlier one had at least ${seen} records.`,
      { suggestion: "Bring it back from a backup; otherwise the next daemon begins a new log." },
    ),
  };
};

/**
 * The report of `agent db check` about a file. A file that is not a database is a finding. Throws STORE_FAILED for the log
 * of a newer version.
 */
export const checkFile = guarded((file: string): CheckReport => {
  const irregular = irregularity(file);
  if (irregular !== undefined) return { ...EMPTY, ok: false, findings: [irregular] };
  const nothing = nothingAt(file);
  if (nothing !== undefined)
    return nothing.lost === undefined ? EMPTY : { ...EMPTY, ok: false, findings: [nothing.lost.message] };
  const witness = readWitness(file); // read first: it is never ahead of the log
  const db = openDatabase(file, { readonly: true });
  try {
    refuseNewer(readableSchema(db));
    return checked(db, file, witness);
  } finally {
    db.close();
  }
});

/** The schema; 0 if the file cannot be read, which is a finding. */
const readableSchema = (db: Database): number => {
  try {
    return schemaOf(db);
  } catch {
    return 0;
  }
};

const checked = (db: Database, file: string, witness: Witness | undefined): CheckReport => {
  try {
    // One snapshot of the log, whatever is written meanwhile.
    return db.transaction(() => check(db, breaksOf(db, file, witness)))();
  } catch (cause) {
    return { ok: false, records: 0, head: 0, findings: [storeError(cause).message], notes: [] };
  }
};

/** Streams whose projected rows differ from their records. Works beside a running daemon. */
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
 * The runs that no record begins, whatever the projections say. Empty for a log that cannot be read: whoever opens it
 * reports that.
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

/**
 * The newest seq and the breaks of the log's history, as a boot would find them. Throws STORE_CORRUPT, STORE_FAILED or
 * PERMISSION_DENIED.
 */
export const lookAtFile = guarded(
  (file: string): { readonly head: number; readonly notes: readonly string[] } => {
    refuseIrregular(file);
    const nothing = nothingAt(file);
    if (nothing?.lost !== undefined) throw nothing.lost;
    if (nothing !== undefined) return EMPTY;
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
