/** Turns of a worker with the usage that each reported. */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../protocol/records.ts";
import type { TurnRow } from "../port.ts";
import type { Projection } from "./projection.ts";
import { type KeptRows, ROW_CHARS, workerOf } from "./workers.ts";

export const TURNS_SCHEMA = `
  CREATE TABLE p_turns (
    worker_id TEXT NOT NULL, incarnation INTEGER NOT NULL, turn INTEGER NOT NULL,
    started_at TEXT NOT NULL, ended_at TEXT, usage TEXT, error TEXT,
    PRIMARY KEY (worker_id, incarnation, turn)
  ) STRICT, WITHOUT ROWID;
`;

export const turns = (db: Database): Projection => {
  const start = db.prepare(
    "INSERT INTO p_turns (worker_id, incarnation, turn, started_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const end = db.prepare(
    "UPDATE p_turns SET ended_at = ?, usage = ?, error = ? WHERE worker_id = ? AND incarnation = ? AND turn = ?",
  );
  const fold = (record: LogRecord): void => {
    if (record.type !== "turn_started" && record.type !== "turn_completed") return;
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    const incarnation = record.incarnation ?? 0;
    const { turn } = record.payload;
    start.run(worker, incarnation, turn, record.recorded_at); // a turn that nobody saw begin began, for us, when it ended
    if (record.type === "turn_started") return;
    const { usage, error } = record.payload;
    end.run(
      record.recorded_at,
      JSON.stringify(usage),
      error ? JSON.stringify(error) : null,
      worker,
      incarnation,
      turn,
    );
  };
  return { fold, flush: () => {}, reset: () => {} };
};

type Stored = Omit<TurnRow, "usage" | "error"> & {
  readonly usage: string | null;
  readonly error: string | null;
};

export const turnRows = (db: Database, { withoutTurns }: Pick<KeptRows, "withoutTurns">) => {
  const newest = db.prepare<[string, number], Stored>(
    "SELECT * FROM p_turns WHERE worker_id = ? ORDER BY incarnation DESC, turn DESC LIMIT ?",
  );
  return (workerId: string, limit: number): readonly TurnRow[] => {
    // Most workers have none.
    if (withoutTurns.get(workerId) === true) return [];
    const rows = newest.all(workerId, limit);
    if (rows.length === 0) withoutTurns.set(workerId, true, ROW_CHARS);
    return rows.reverse().map((row) => ({
      ...row,
      usage: row.usage === null ? null : JSON.parse(row.usage),
      error: row.error === null ? null : JSON.parse(row.error),
    }));
  };
};
