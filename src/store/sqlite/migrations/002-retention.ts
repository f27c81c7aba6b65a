/**
 * Records that retention has removed: the runs of seqs that are not in the log any more (apart from each other, never touching), and
 * the archives that have their records. An archive whose records are not all removed yet is not `done`.
 */
export const retention = `
  CREATE TABLE removed (from_seq INTEGER PRIMARY KEY, to_seq INTEGER NOT NULL) STRICT;
  CREATE TABLE archives (
    name TEXT PRIMARY KEY, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, records INTEGER NOT NULL,
    bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
`;
