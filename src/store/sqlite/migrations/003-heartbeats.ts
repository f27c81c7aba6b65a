/**
 * When each worker's process was last checked. Overwritten in bulk: with a record for each heartbeat, quiet workers would
 * make the log grow.
 */
export const heartbeats = `
  CREATE TABLE heartbeats (
    worker_id TEXT PRIMARY KEY, incarnation INTEGER NOT NULL, at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
