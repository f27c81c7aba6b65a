/**
 * Records that retention has removed: the runs of missing seqs, which never touch each other, and the archives that have
 * these records. An archive is `done` once all its records are removed.
 */
export const retention = `
  CREATE TABLE removed (from_seq INTEGER PRIMARY KEY, to_seq INTEGER NOT NULL) STRICT;
  CREATE TABLE archives (
    name TEXT PRIMARY KEY, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, records INTEGER NOT NULL,
    bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
`;
