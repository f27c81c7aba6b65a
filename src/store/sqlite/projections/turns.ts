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

/** A turn whose row is not written yet. */
interface BegunTurn {
  readonly worker: string;
  readonly incarnation: number;
  readonly turn: number;
  readonly at: string;
}

const keyOf = (worker: string, incarnation: number, turn: number): string =>
  `${worker}:${incarnation}:${turn}`;

/** A turn that begins and ends in one transaction costs one statement: the row is written with its end. */
export const turns = (db: Database): Projection => {
  const start = db.prepare(
    "INSERT INTO p_turns (worker_id, incarnation, turn, started_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const open = new Map<string, BegunTurn>();
  const begun = db
    .prepare<[string, number, number], string>(
      "SELECT started_at FROM p_turns WHERE worker_id = ? AND incarnation = ? AND turn = ?",
    )
    .pluck();
  // A turn without a recorded beginning gets the time of its end.
  const end = db.prepare(
    `INSERT INTO p_turns (worker_id, incarnation, turn, started_at, ended_at, duration_ms, usage, models, tool_calls, error)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET ended_at = excluded.ended_at, duration_ms = excluded.duration_ms, usage = excluded.usage,
       models = excluded.models, tool_calls = excluded.tool_calls, error = excluded.error`,
  );
  const fold = (record: LogRecord): void => {
    if (record.type !== "turn_started" && record.type !== "turn_completed") return;
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    const { incarnation = 0, recorded_at: at } = record;
    const { turn } = record.payload;
    const key = keyOf(worker, incarnation, turn);
    const known = open.get(key);
    if (record.type === "turn_started") {
      if (known === undefined) open.set(key, { worker, incarnation, turn, at });
      return;
    }
    open.delete(key);
    const { usage, error, models, tool_calls, duration_ms } = record.payload;
    const began = () => begun.get(worker, incarnation, turn) ?? known?.at ?? at;
    end.run(
      worker,
      incarnation,
      turn,
      known?.at ?? at,
      at,
      duration_ms ?? Math.max(0, Date.parse(at) - Date.parse(began())),
      JSON.stringify(usage),
      models ? JSON.stringify(models) : null,
      tool_calls ?? null,
      error ? JSON.stringify(error) : null,
    );
  };
  return {
    fold,
    flush: () => {
      for (const { worker, incarnation, turn, at } of open.values()) start.run(worker, incarnation, turn, at);
      open.clear();
    },
    reset: () => open.clear(),
  };
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
