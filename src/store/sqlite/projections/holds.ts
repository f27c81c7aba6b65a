/** Open holds of all streams, one row each: the one list of what waits. */
import type { Database } from "better-sqlite3";
import { foldHolds, type Hold, mayChangeHolds, NO_HOLDS } from "../../../protocol/holds.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import type { HoldRow } from "../../views.ts";
import type { Projection } from "./projection.ts";

export const HOLDS_SCHEMA = `
  CREATE TABLE p_holds (
    stream TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, incarnation INTEGER NOT NULL, hold TEXT NOT NULL, since TEXT NOT NULL,
    PRIMARY KEY (stream, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_holds_order ON p_holds (seq);
`;

type HoldColumns = Omit<HoldRow, "hold"> & { readonly hold: string };

const show = (row: HoldColumns): HoldRow => ({ ...row, hold: JSON.parse(row.hold) as Hold });

export const holds = (db: Database): Projection => {
  const ofStream = db
    .prepare<[string], string>("SELECT hold FROM p_holds WHERE stream = ? ORDER BY seq")
    .pluck();
  const open = db.prepare(
    "INSERT INTO p_holds (stream, id, seq, incarnation, hold, since) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const close = db.prepare("DELETE FROM p_holds WHERE stream = ? AND id = ?");

  const fold = (record: LogRecord): void => {
    if (!mayChangeHolds(record)) return;
    const { stream, seq, incarnation = 0, recorded_at } = record;
    const found = ofStream.all(stream);
    const before = found.length === 0 ? NO_HOLDS : found.map((hold) => JSON.parse(hold) as Hold);
    const after = foldHolds(before, record);
    if (after === before) return;
    for (const { id } of before) if (!after.some((hold) => hold.id === id)) close.run(stream, id);
    for (const hold of after)
      if (!before.some(({ id }) => id === hold.id))
        open.run(stream, hold.id, seq, incarnation, JSON.stringify(hold), recorded_at);
  };
  return { fold, flush: () => {}, reset: () => {} };
};

export const holdRows = (db: Database) => {
  const ofStream = db.prepare<[string], HoldColumns>("SELECT * FROM p_holds WHERE stream = ? ORDER BY seq");
  const everywhere = db.prepare<[number, number], HoldColumns>(
    "SELECT * FROM p_holds WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  return {
    of: (stream: string): readonly HoldRow[] => ofStream.all(stream).map(show),
    after: (seq: number, limit: number): readonly HoldRow[] => everywhere.all(seq, limit).map(show),
  };
};
