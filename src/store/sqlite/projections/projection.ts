/**
 * Read models folded from the log. `fold` takes every record once, in order, in the transaction that appends it; `flush`
 * writes what was gathered before that transaction commits. All of them can be dropped and folded again.
 */
import type { Database } from "better-sqlite3";
import type { LogRecord } from "../../../protocol/records.ts";
import { APPROVALS_SCHEMA, approvals } from "./approvals.ts";
import { BLACKBOARD_SCHEMA, blackboard } from "./blackboard.ts";
import { BOARD_SCHEMA, boards } from "./board.ts";
import { FEDERATION_SCHEMA, federation } from "./federation.ts";
import { HOLDS_SCHEMA, holds } from "./holds.ts";
import { MAIL_SCHEMA, mail } from "./mail.ts";
import { MESSAGES_SCHEMA, messages } from "./messages.ts";
import { READ_VIEWS, READ_VIEWS_SCHEMA } from "./read-views.ts";
import { SCHEDULES_SCHEMA, schedules } from "./schedules.ts";
import { TOKENS_SCHEMA, tokens } from "./tokens.ts";
import { TREES_SCHEMA, trees } from "./trees.ts";
import { TURNS_SCHEMA, turns } from "./turns.ts";
import { USAGE_SCHEMA, usage } from "./usage.ts";
import { WORKERS_SCHEMA, workers } from "./workers.ts";

/** Increase this with every change of a schema or of a fold: an older projection is rebuilt when the log is opened. */
export const PROJECTION_VERSION = 16;

export const TABLES = [
  "p_workers",
  "p_turns",
  "p_trees",
  "p_messages",
  "p_approvals",
  "p_holds",
  "p_mail",
  "p_mail_readers",
  "p_usage",
  "p_labels",
  "p_bb_items",
  "p_schedules",
  "p_cards",
  "p_boards",
  "p_tokens",
  "p_federation",
] as const;

/** Indexes of words, which triggers of the tables keep. */
const INDEXES = ["p_bb_words"] as const;

export interface Projection {
  fold(record: LogRecord): void;
  flush(): void;
  /** Forgets what was gathered, after a rollback. */
  reset(): void;
}

/** Drops the tables and creates empty ones. */
export const resetProjections = (db: Database): void => {
  for (const view of READ_VIEWS) db.exec(`DROP VIEW IF EXISTS main.${view}`);
  for (const table of [...TABLES, ...INDEXES]) db.exec(`DROP TABLE IF EXISTS main.${table}`);
  db.exec(
    WORKERS_SCHEMA +
      TURNS_SCHEMA +
      TREES_SCHEMA +
      MESSAGES_SCHEMA +
      APPROVALS_SCHEMA +
      HOLDS_SCHEMA +
      MAIL_SCHEMA +
      USAGE_SCHEMA +
      BLACKBOARD_SCHEMA +
      SCHEDULES_SCHEMA +
      BOARD_SCHEMA +
      TOKENS_SCHEMA +
      FEDERATION_SCHEMA +
      READ_VIEWS_SCHEMA,
  );
};

/** `onWorker` is called with the id of each worker whose row is about to change. */
export const projections = (db: Database, onWorker?: (id: string) => void): Projection => {
  // The order matters: workers and usage read the duration of turns, and usage reads the kind of workers.
  const all = [
    turns(db),
    workers(db, onWorker),
    trees(db),
    messages(db),
    approvals(db),
    holds(db),
    mail(db),
    usage(db),
    blackboard(db),
    schedules(db),
    boards(db),
    tokens(db),
    federation(db),
  ];
  return {
    fold: (record) => {
      for (const projection of all) projection.fold(record);
    },
    flush: () => {
      for (const projection of all) projection.flush();
    },
    reset: () => {
      for (const projection of all) projection.reset();
    },
  };
};

/** All rows of all projections as text, in the order of their keys. Equal dumps mean equal projections. */
export function* dumpProjections(db: Database): Generator<string> {
  for (const table of TABLES)
    for (const row of db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).raw().iterate())
      yield `${table} ${JSON.stringify(row)}`;
}
