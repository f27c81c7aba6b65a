/**
 * The state of a worker by its records alone. Its projected row may have been edited, and what is removed because of it is
 * lost.
 */
import type { Database } from "better-sqlite3";
import { workerStream } from "../../protocol/records.ts";
import type { WorkerStanding } from "../views.ts";

/** SQL: the streams of all workers as `workers (stream)`, by one index search for each. */
export const WORKER_STREAMS = `
  workers (stream) AS (
    SELECT min(stream) FROM records WHERE stream > 'worker:' AND stream < 'worker:~'
    UNION ALL
    SELECT (SELECT min(stream) FROM records r WHERE r.stream > w.stream AND r.stream < 'worker:~')
    FROM workers w WHERE w.stream IS NOT NULL
  )`;

const LIFECYCLE = "type NOT IN ('agent.event', 'worker_log_chunk')";

/** SQL: the state by the newest record that has one; null if that record cannot be read. */
export const stateOf = (stream: string): string => `(
  SELECT CASE
    WHEN type = 'worker_spawn_requested' THEN 'pending'
    WHEN type = 'worker_restart_scheduled' THEN 'backing_off'
    WHEN NOT json_valid(payload) THEN NULL
    WHEN type = 'worker_ended' THEN json_extract(payload, '$.state')
    ELSE json_extract(payload, '$.to')
  END
  FROM records r
  WHERE r.stream = ${stream} AND ${LIFECYCLE}
    AND type IN ('worker_spawn_requested', 'worker_state_changed', 'worker_restart_scheduled', 'worker_ended')
  ORDER BY version DESC LIMIT 1
)`;

/** SQL: the newest incarnation of a stream; null before the first. */
export const incarnationOf = (stream: string): string => `(
  SELECT incarnation FROM records r WHERE r.stream = ${stream} AND ${LIFECYCLE} AND incarnation IS NOT NULL
  ORDER BY version DESC LIMIT 1
)`;

/** Reads the standing of a worker; undefined for a worker without a record. */
export const standings = (db: Database): ((workerId: string) => WorkerStanding | undefined) => {
  const look = db.prepare<{ stream: string }, WorkerStanding>(
    `SELECT coalesce(${incarnationOf("@stream")}, 0) AS incarnation, ${stateOf("@stream")} AS state
     WHERE EXISTS (SELECT 1 FROM records WHERE stream = @stream)`,
  );
  return (workerId) => look.get({ stream: workerStream(workerId) });
};
