/** Artifacts that records of the log name: these are kept as long as the record is, and lifecycle records are kept for ever. */
import { existsSync } from "node:fs";
import { openDatabase } from "../database.ts";
import { guarded } from "../failure.ts";

/** Through the index of lifecycle records: output names none. */
const NAMED = `
  SELECT DISTINCT json_extract(payload, '$.artifact.digest') AS digest FROM records
  WHERE type NOT IN ('agent.event', 'worker_log_chunk') AND type IN ('worker_completed', 'worker_failed', 'worker_cancelled')
    AND digest IS NOT NULL`;

/** Fails where the log cannot be read: nobody knows then what is named. */
export const referencedDigests = guarded((file: string): readonly string[] => {
  if (!existsSync(file)) return [];
  const db = openDatabase(file, { readonly: true });
  try {
    return db.prepare<[], string>(NAMED).pluck().all();
  } finally {
    db.close();
  }
});
