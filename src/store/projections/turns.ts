/** Turns of a worker, with what each used and how long it took. */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../protocol/records.ts";
import type { TurnRow } from "../port.ts";
import type { Projection } from "./projection.ts";
import { type KeptRows, ROW_CHARS, workerOf } from "./workers.ts";

export const TURNS_SCHEMA = `
  CREATE TABLE p_turns (
    worker_id TEXT NOT NULL, incarnation INTEGER NOT NULL, turn INTEGER NOT NULL,
    started_at TEXT NOT NULL, ended_at TEXT, duration_ms REAL, usage TEXT, models TEXT, tool_calls INTEGER, error TEXT,
    PRIMARY KEY (worker_id, incarnation, turn)
  ) STRICT, WITHOUT ROWID;
`;

export const turns = (db: Database): Projection => {
  const start = db.prepare(
    "INSERT INTO p_turns (worker_id, incarnation, turn, started_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const begun = db
    .prepare<[string, number, number], string>(
      "SELECT started_at FROM p_turns WHERE worker_id = ? AND incarnation = ? AND turn = ?",
    )
    .pluck();
  const end = db.prepare(
    `UPDATE p_turns SET ended_at = ?, duration_ms = ?, usage = ?, models = ?, tool_calls = ?, error = ?
     WHERE worker_id = ? AND incarnation = ? AND turn = ?`,
  );
  const fold = (record: LogRecord): void => {
    if (record.type !== "turn_started" && record.type !== "turn_completed") return;
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    const incarnation = record.incarnation ?? 0;
    const { turn } = record.payload;
    start.run(worker, incarnation, turn, record.recorded_at); // a turn that nobody saw begin began, for us, when it ended
    if (record.type === "turn_started") return;
    const { usage, error, models, tool_calls, duration_ms } = record.payload;
    const started = begun.get(worker, incarnation, turn) as string;
    const between = Math.max(0, Date.parse(record.recorded_at) - Date.parse(started));
    end.run(
      record.recorded_at,
      duration_ms ?? between,
      JSON.stringify(usage),
      models ? JSON.stringify(models) : null,
      tool_calls ?? null,
      error ? JSON.stringify(error) : null,
      worker,
      incarnation,
      turn,
    );
  };
  return { fold, flush: () => {}, reset: () => {} };
};

type Stored = Omit<TurnRow, "usage" | "models" | "error"> & {
  readonly usage: string | null;
  readonly models: string | null;
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
      models: row.models === null ? null : JSON.parse(row.models),
      error: row.error === null ? null : JSON.parse(row.error),
    }));
  };
};
