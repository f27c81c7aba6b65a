/**
 * Messages to agents, one row each, updated by its records (`MessageStep`). A row without `open` does not change any more.
 */
import type { Database } from "better-sqlite3";
import type { MessageRow } from "../../../protocol/message-row.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import { workerOf } from "../../../protocol/records.ts";
import type { Projection } from "./projection.ts";

export const MESSAGES_SCHEMA = `
  CREATE TABLE p_messages (
    worker_id TEXT NOT NULL, message_id TEXT NOT NULL, seq INTEGER NOT NULL, bytes INTEGER NOT NULL,
    masked INTEGER NOT NULL, closes INTEGER NOT NULL, line INTEGER NOT NULL, bound INTEGER, state TEXT NOT NULL DEFAULT 'accepted', open INTEGER NOT NULL DEFAULT 1,
    deliveries INTEGER NOT NULL DEFAULT 0, incarnation INTEGER, "end" INTEGER, turn INTEGER, reason TEXT,
    accepted_at TEXT NOT NULL, changed_at TEXT NOT NULL,
    PRIMARY KEY (worker_id, message_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_messages_open ON p_messages (worker_id) WHERE open = 1;
  CREATE INDEX p_messages_order ON p_messages (worker_id, seq);
  CREATE INDEX p_messages_end ON p_messages (worker_id, incarnation, "end");
`;

export const messages = (db: Database): Projection => {
  const accept = db.prepare(
    `INSERT INTO p_messages (worker_id, message_id, seq, bytes, masked, closes, line, bound, accepted_at, changed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = 'accepted', open = 1, seq = excluded.seq, bound = excluded.bound, reason = NULL,
       changed_at = excluded.changed_at
     WHERE state IN ('undeliverable', 'unknown')`,
  );
  const update = (assignments: string) =>
    db.prepare(`UPDATE p_messages SET ${assignments}, changed_at = ? WHERE worker_id = ? AND message_id = ?`);
  // An acknowledged message stays acknowledged: the record of its delivery may have waited for the store.
  const deliver = update(
    `deliveries = deliveries + 1, incarnation = ?, "end" = ?,
     state = CASE WHEN open THEN 'delivered' ELSE state END, open = open AND ?`,
  );
  const acknowledge = update("state = 'acknowledged', open = 0, turn = ?");
  const giveUp = update("state = ?, open = 0, reason = ?");

  const fold = (record: LogRecord): void => {
    if (record.type !== "worker_message") return;
    const worker = workerOf(record.stream);
    if (worker === undefined) return;
    const { payload, recorded_at } = record;
    const where = [recorded_at, worker, payload.message_id] as const;
    switch (payload.state) {
      case "accepted": {
        const { message_id, bytes, masked, closes, line, bound } = payload;
        const flags = [
          masked ? 1 : 0,
          closes ? 1 : 0,
          line ? 1 : 0,
          bound ? (record.incarnation ?? 0) : null,
        ];
        accept.run(worker, message_id, record.seq, bytes, ...flags, recorded_at, recorded_at);
        return;
      }
      case "delivered":
        deliver.run(record.incarnation ?? 0, payload.end, payload.acknowledges ? 1 : 0, ...where);
        return;
      case "acknowledged":
        acknowledge.run(payload.turn, ...where);
        return;
      default:
        giveUp.run(payload.state, payload.reason, ...where);
    }
  };
  return { fold, flush: () => {}, reset: () => {} };
};

type MessageColumns = Omit<MessageRow, "masked" | "closes" | "line" | "open"> & {
  readonly masked: number;
  readonly closes: number;
  readonly line: number;
  readonly open: number;
};

const show = (row: MessageColumns): MessageRow => ({
  ...row,
  masked: row.masked !== 0,
  closes: row.closes !== 0,
  line: row.line !== 0,
  open: row.open !== 0,
});

export const messageRows = (db: Database) => {
  const one = db.prepare<[string, string], MessageColumns>(
    "SELECT * FROM p_messages WHERE worker_id = ? AND message_id = ?",
  );
  const newest = db.prepare<[string, number, number], MessageColumns>(
    "SELECT * FROM p_messages WHERE worker_id = ? AND seq < ? AND line = 0 ORDER BY seq DESC LIMIT ?",
  );
  const writtenTo = db
    .prepare<[string, number], number | null>(
      'SELECT max("end") FROM p_messages WHERE worker_id = ? AND incarnation = ?',
    )
    .pluck();
  const open = db.prepare<[string], MessageColumns>(
    "SELECT * FROM p_messages WHERE worker_id = ? AND open = 1 ORDER BY seq",
  );
  const everywhere = db.prepare<[], MessageColumns>("SELECT * FROM p_messages WHERE open = 1 ORDER BY seq");
  return {
    one: (workerId: string, messageId: string): MessageRow | undefined => {
      const row = one.get(workerId, messageId);
      return row && show(row);
    },
    before: (workerId: string, seq: number, limit: number): readonly MessageRow[] =>
      newest.all(workerId, seq, limit).reverse().map(show),
    writtenTo: (workerId: string, incarnation: number): number | undefined =>
      writtenTo.get(workerId, incarnation) ?? undefined,
    open: (workerId?: string): readonly MessageRow[] =>
      (workerId === undefined ? everywhere.all() : open.all(workerId)).map(show),
  };
};
