/**
 * The records of what the control plane has settled: items and messages that are gone, schedules that were removed, tokens
 * that are over. Each has a last record, after which its projection has no row, so that a rebuild without its records gives
 * the same tables. A schedule that lives has a record that sums up all before it, which can then go. All else that is open
 * stays, and so do cards, which keep a tracker from starting an issue twice.
 */
import type { Database } from "better-sqlite3";
import { SCHEDULE_SUM_RECORDS_MIN } from "../../../base/limits.ts";
import type { RecordDraft } from "../../../protocol/records.ts";
import type { Schedule } from "../../../protocol/schedule.ts";
import { scheduleStream } from "../../../protocol/schedule-records.ts";

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

/** Schedules with so many records from before an instant that a sum is worth its record. Each costs one index search. */
const schedulesToSum = (db: Database, before_ms: number): readonly Schedule[] => {
  const nth = db
    .prepare<[string, number], number>(
      `SELECT recorded_at FROM records WHERE stream = ? AND version > ? ORDER BY version LIMIT 1 OFFSET ${SCHEDULE_SUM_RECORDS_MIN - 1}`,
    )
    .pluck();
  const rows = db.prepare<[], string>("SELECT schedule FROM p_schedules").pluck().all();
  return rows
    .map((row): Schedule => JSON.parse(row))
    .filter(({ name, summed = 0 }) => (nth.get(scheduleStream(name), summed) ?? before_ms) < before_ms);
};

/** The records that sum schedules up, so that their older records can go. */
export const scheduleSums = (db: Database, before_ms: number): readonly RecordDraft[] =>
  schedulesToSum(db, before_ms).map(({ summed: _, ...schedule }) => ({
    type: "schedule_summed",
    stream: scheduleStream(schedule.name),
    payload: { schedule_id: schedule.schedule_id, schedule },
  }));

/** Records of schedules that live, from before their sum. With `isTold`, also those that a sum would let go. */
const noteSummed = (db: Database, before_ms: number, isTold: boolean): void => {
  const notes = "INSERT OR IGNORE INTO settled SELECT r.seq FROM records r";
  const isOld = "r.type <> 'log_gap' AND r.recorded_at < ?";
  db.prepare(
    `${notes} JOIN (
       SELECT s.stream, s.version FROM p_schedules p CROSS JOIN records s
       ON s.stream = 'schedule:' || p.name AND s.version = json_extract(p.schedule, '$.summed') AND s.type = 'schedule_summed'
     ) sums ON r.stream = sums.stream AND r.version < sums.version WHERE ${isOld}`,
  ).run(before_ms);
  if (!isTold) return;
  const all = db.prepare(`${notes} WHERE r.stream = ? AND ${isOld}`);
  for (const { name } of schedulesToSum(db, before_ms)) all.run(scheduleStream(name), before_ms);
};

/** Makes the temporary table `settled` of this connection: the seqs of all records of what was settled before an instant. */
export const noteSettled = (db: Database, before_ms: number, isTold: boolean): void => {
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
  noteSummed(db, before_ms, isTold);
};
