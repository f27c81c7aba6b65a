/** Turns of workers, with their usage and duration. */
import type { Database } from "better-sqlite3";
import { type LogRecord, workerOf } from "../../../protocol/records.ts";
import type { TurnRow } from "../../views.ts";
import type { KeptRows } from "./kept-rows.ts";
import type { Projection } from "./projection.ts";

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
  // A turn without a recorded beginning gets the time of its end.
  const end = db.prepare(
    `INSERT INTO p_turns (worker_id, incarnation, turn, started_at, ended_at, duration_ms, usage, models, tool_calls, error)
     VALUES (@worker, @incarnation, @turn, @at, @at, @ms, @usage, @models, @calls, @error)
     ON CONFLICT DO UPDATE SET ended_at = @at, duration_ms = @ms, usage = @usage, models = @models, tool_calls = @calls, error = @error`,
  );
  const fold = (record: LogRecord): void => {
    if (record.type !== "turn_started" && record.type !== "turn_completed") return;
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    const { incarnation = 0, recorded_at: at } = record;
    const { turn } = record.payload;
    if (record.type === "turn_started") {
      start.run(worker, incarnation, turn, at);
      return;
    }
    const { usage, error, models, tool_calls, duration_ms } = record.payload;
    const between = () =>
      Math.max(0, Date.parse(at) - Date.parse(begun.get(worker, incarnation, turn) ?? at));
    end.run({
      worker,
      incarnation,
      turn,
      at,
      ms: duration_ms ?? between(),
      usage: JSON.stringify(usage),
      models: models ? JSON.stringify(models) : null,
      calls: tool_calls ?? null,
      error: error ? JSON.stringify(error) : null,
    });
  };
  return { fold, flush: () => {}, reset: () => {} };
};

type TurnColumns = Omit<TurnRow, "usage" | "models" | "error"> & {
  readonly usage: string | null;
  readonly models: string | null;
  readonly error: string | null;
};

export const turnRows = (db: Database, { absent }: Pick<KeptRows, "absent">) => {
  const newest = db.prepare<[string, number], TurnColumns>(
    "SELECT * FROM p_turns WHERE worker_id = ? ORDER BY incarnation DESC, turn DESC LIMIT ?",
  );
  return (workerId: string, limit: number): readonly TurnRow[] => {
    if (absent.has(workerId, "turns")) return [];
    const rows = newest.all(workerId, limit);
    if (rows.length === 0) absent.note(workerId, "turns");
    return rows.reverse().map((row) => ({
      ...row,
      usage: row.usage === null ? null : JSON.parse(row.usage),
      models: row.models === null ? null : JSON.parse(row.models),
      error: row.error === null ? null : JSON.parse(row.error),
    }));
  };
};
