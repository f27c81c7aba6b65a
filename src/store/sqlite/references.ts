/**
 * Finds the artifacts that records of the log name. They are kept as long as the record, and lifecycle records are kept for
 * ever.
 */
import { existsSync } from "node:fs";
import { openDatabase } from "./database.ts";
import { guarded } from "./failure.ts";

/**
 * Uses the index of lifecycle records, because output names no artifacts. An item of the blackboard keeps its artifacts
 * until it is gone.
 */
const NAMED = `
  WITH gone (item_id) AS (
    SELECT json_extract(payload, '$.item_id') FROM records
    WHERE type NOT IN ('agent.event', 'worker_log_chunk') AND (
      type = 'bb_released' AND json_extract(payload, '$.done') OR
      type = 'bb_expired' AND json_extract(payload, '$.what') = 'item')
  )
  SELECT DISTINCT json_extract(payload, '$.artifact.digest') AS digest FROM records
  WHERE type NOT IN ('agent.event', 'worker_log_chunk') AND type IN ('worker_completed', 'worker_failed', 'worker_cancelled', 'mailbox_sent')
    AND digest IS NOT NULL
  UNION
  SELECT named.value FROM records, json_each(records.payload, '$.artifacts') named
  WHERE records.type NOT IN ('agent.event', 'worker_log_chunk') AND records.type = 'bb_posted'
    AND json_extract(records.payload, '$.item_id') NOT IN (SELECT item_id FROM gone)`;

/** The named digests. Fails if the log cannot be read, because then they are unknown. */
export const referencedDigests = guarded((file: string): readonly string[] => {
  if (!existsSync(file)) return [];
  const db = openDatabase(file, { readonly: true });
  try {
    return db.prepare<[], string>(NAMED).pluck().all();
  } finally {
    db.close();
  }
});
