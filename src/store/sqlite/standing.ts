/** How a worker stands by its records alone. Its row of a projection may have been edited, and what is removed by it is gone. */
import type { Database } from "better-sqlite3";
import { workerStream } from "../../protocol/records.ts";
import type { WorkerStanding } from "../views.ts";

/** The streams of all workers of the log as `workers (stream)`: a search of an index for each. */
export const WORKER_STREAMS = `
  workers (stream) AS (
    SELECT min(stream) FROM records WHERE stream > 'worker:' AND stream < 'worker:~'
    UNION ALL
    SELECT (SELECT min(stream) FROM records r WHERE r.stream > w.stream AND r.stream < 'worker:~')
    FROM workers w WHERE w.stream IS NOT NULL
  )`;

const LIFECYCLE = "type NOT IN ('agent.event', 'worker_log_chunk')";

/** The state that the newest record with one gives a stream; null where that record cannot be read. */
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

/** The newest incarnation of which a stream tells; null before the first. */
export const incarnationOf = (stream: string): string => `(
  SELECT incarnation FROM records r WHERE r.stream = ${stream} AND ${LIFECYCLE} AND incarnation IS NOT NULL
  ORDER BY version DESC LIMIT 1
)`;

/** Undefined for a worker without a record. */
export const standings = (db: Database): ((workerId: string) => WorkerStanding | undefined) => {
  const look = db.prepare<{ stream: string }, WorkerStanding>(
    `SELECT coalesce(${incarnationOf("@stream")}, 0) AS incarnation, ${stateOf("@stream")} AS state
     WHERE EXISTS (SELECT 1 FROM records WHERE stream = @stream)`,
  );
  return (workerId) => look.get({ stream: workerStream(workerId) });
};
