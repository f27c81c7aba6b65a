/** When each worker's process was last looked at: written over in bulk, because a record a beat would grow with quiet workers. */
export const heartbeats = `
  CREATE TABLE heartbeats (
    worker_id TEXT PRIMARY KEY, incarnation INTEGER NOT NULL, at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
