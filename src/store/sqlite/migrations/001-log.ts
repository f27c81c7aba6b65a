/**
 * The log and the tables that its transactions need. Each of the three indexes keeps a promise: `id` (idempotency), `(stream,
 * version)` (density, and one worker's records without a scan), and the lifecycle records of a stream, so that the cost of a
 * boot depends on decisions and not on output.
 */
export const log = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    type TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    worker_id TEXT,
    incarnation INTEGER,
    correlation_id TEXT NOT NULL,
    causation_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX records_id ON records (id);
  CREATE UNIQUE INDEX records_stream ON records (stream, version);
  CREATE INDEX records_lifecycle ON records (stream, version) WHERE type NOT IN ('agent.event', 'worker_log_chunk');
  CREATE TABLE checkpoints (
    worker_id TEXT NOT NULL,
    incarnation INTEGER NOT NULL,
    stream TEXT NOT NULL,
    offset INTEGER NOT NULL,
    skipped_bytes INTEGER NOT NULL,
    decoder_version INTEGER NOT NULL,
    decoder_state TEXT NOT NULL,
    PRIMARY KEY (worker_id, incarnation, stream)
  ) STRICT;
`;
