/**
 * Usage: one row for each model of each completed turn, with the same meaning for all kinds, and the labels of workers, by
 * which usage is grouped. Records of turns are never removed, so these figures outlive the output.
 */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../../protocol/records.ts";
import { workerOf } from "../../../protocol/records.ts";
import { isUnpriced, modelsOf } from "../../../protocol/usage.ts";
import { makeInserter } from "../insert.ts";
import type { Projection } from "./projection.ts";
import { turnMs } from "./turn-times.ts";

/** The first part of a turn gets its calls and its time, because nobody can tell which model they belong to. */
export const USAGE_SCHEMA = `
  CREATE TABLE p_usage (
    worker_id TEXT NOT NULL, seq INTEGER NOT NULL, part INTEGER NOT NULL, kind TEXT, model TEXT, ended_at TEXT NOT NULL,
    turns INTEGER NOT NULL, tool_calls INTEGER NOT NULL, duration_ms REAL NOT NULL,
    input_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL, estimated_usd REAL, unpriced INTEGER NOT NULL,
    PRIMARY KEY (worker_id, seq, part)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_usage_ended ON p_usage (ended_at);
  CREATE TABLE p_labels (
    worker_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (worker_id, key)
  ) STRICT, WITHOUT ROWID;
`;

const USAGE_COLUMNS =
  "worker_id, seq, part, kind, model, ended_at, turns, tool_calls, duration_ms, input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, estimated_usd, unpriced";

/** Folds after the projections of turns and of workers, which it reads. */
export const usage = (db: Database): Projection => {
  const kindOf = db.prepare<[string], string>("SELECT kind FROM p_workers WHERE id = ?").pluck();
  const rows = makeInserter(db, "p_usage", USAGE_COLUMNS);
  const unlabel = db.prepare("DELETE FROM p_labels WHERE worker_id = ?");
  const label = db.prepare("INSERT INTO p_labels VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  const took = turnMs(db);
  /** Kinds of workers whose turns are in this transaction. */
  const kinds = new Map<string, string | null>();
  const kindOnce = (worker: string): string | null => {
    const known = kinds.get(worker);
    if (known !== undefined) return known;
    const kind = kindOf.get(worker) ?? null;
    kinds.set(worker, kind);
    return kind;
  };

  const fold = (record: LogRecord): void => {
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    if (record.type === "worker_spawn_requested" || record.type === "worker_spec_changed") {
      kinds.delete(worker);
      if (record.type === "worker_spec_changed") unlabel.run(worker);
      // A fold must accept a record with missing fields.
      const { labels = {} } = record.payload.spec;
      for (const [key, value] of Object.entries(labels)) label.run(worker, key, value);
      return;
    }
    if (record.type !== "turn_completed") return;
    const { payload, seq, incarnation = 0, recorded_at } = record;
    const kind = kindOnce(worker);
    modelsOf(kind ?? "", payload).forEach((one, part) => {
      const isFirst = part === 0;
      rows.add([
        worker,
        seq,
        part,
        kind,
        one.model,
        recorded_at,
        isFirst ? 1 : 0,
        isFirst ? (payload.tool_calls ?? 0) : 0,
        isFirst ? took(worker, incarnation, payload) : 0,
        one.input_tokens,
        one.cached_tokens,
        one.cache_write_tokens,
        one.output_tokens,
        one.reasoning_tokens,
        one.cost_usd,
        one.estimated_usd ?? null,
        isUnpriced(one) ? 1 : 0,
      ]);
    });
  };
  return {
    fold,
    flush: () => {
      rows.flush();
      kinds.clear();
    },
    reset: () => {
      rows.reset();
      kinds.clear();
    },
  };
};
