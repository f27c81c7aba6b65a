/**
 * The records of what the control plane has settled: items and messages that are gone, schedules that were removed, tokens
 * that are over. Each has a last record, after which its projection has no row, so that a rebuild without its records gives
 * the same tables. All that is open stays, and so do cards, which keep a tracker from starting an issue twice.
 */
import type { Database } from "better-sqlite3";

interface Settling {
  /** The prefix of the streams. */
  readonly streams: string;
  /** The member of each payload that has the id. */
  readonly member: string;
  /** SQL: true for the last record of one. */
  readonly isLast: string;
  /** SQL: the ids of those that still have a row. */
  readonly open: string;
}

const SETTLING: readonly Settling[] = [
  {
    streams: "bb:",
    member: "item_id",
    isLast:
      "(type = 'bb_released' AND json_extract(payload, '$.done')) OR (type = 'bb_expired' AND json_extract(payload, '$.what') = 'item')",
    open: "SELECT item_id FROM p_bb_items",
  },
  {
    streams: "mailbox:",
    member: "message_id",
    isLast: "type IN ('mailbox_acked', 'mailbox_dropped')",
    // The first message that a worker took from its mailbox says that it polls.
    open: "SELECT message_id FROM p_mail UNION SELECT message_id FROM p_mail_readers",
  },
  {
    streams: "schedule:",
    member: "schedule_id",
    isLast: "type = 'schedule_removed'",
    open: "SELECT schedule_id FROM p_schedules",
  },
  {
    streams: "token:",
    member: "token_id",
    isLast: "type IN ('token_revoked', 'token_expired')",
    open: "SELECT token_id FROM p_tokens",
  },
];

/** Makes the temporary table `settled` of this connection: the seqs of all records of what was settled before an instant. */
export const noteSettled = (db: Database, before_ms: number): void => {
  db.exec(
    "CREATE TEMP TABLE settled (seq INTEGER PRIMARY KEY); CREATE TEMP TABLE over (id TEXT PRIMARY KEY) WITHOUT ROWID;",
  );
  for (const { streams, member, isLast, open } of SETTLING) {
    const id = `json_extract(payload, '$.${member}')`;
    // An index search: the character behind ":" ends the range of the prefix.
    const inStreams = `r.stream > '${streams}' AND r.stream < '${streams.slice(0, -1)};' AND json_valid(payload)`;
    db.exec("DELETE FROM over");
    db.prepare(
      `INSERT OR IGNORE INTO over SELECT ${id} FROM records r
       WHERE ${inStreams} AND recorded_at < ? AND (${isLast}) AND ${id} NOT IN (${open})`,
    ).run(before_ms);
    // The newest record of each stream stays, because the next version is counted from it.
    db.exec(
      `INSERT INTO settled SELECT r.seq FROM records r
       WHERE ${inStreams} AND type <> 'log_gap' AND ${id} IN (SELECT id FROM over)
         AND version < (SELECT max(version) FROM records n WHERE n.stream = r.stream)`,
    );
  }
};
