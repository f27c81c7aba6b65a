/** Messages in mailboxes, dead letters included, one row each. An acknowledgement removes the row. */
import type { Database } from "better-sqlite3";
import { foldMail, isOfMail, type MailMessage } from "../../../protocol/mail.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import type { JsonValue } from "../../../protocol/talk-records.ts";
import type { MailRow } from "../../views.ts";
import type { Projection } from "./projection.ts";

export const MAIL_SCHEMA = `
  CREATE TABLE p_mail (
    message_id TEXT NOT NULL PRIMARY KEY, box TEXT NOT NULL, seq INTEGER NOT NULL, dead INTEGER NOT NULL,
    message TEXT NOT NULL, payload TEXT NOT NULL, artifact TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX p_mail_order ON p_mail (box, dead, seq);
  CREATE TABLE p_mail_readers (box TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, message_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

/** The `by` of a worker that polls its own mailbox. */
const selfOf = (box: string): string => `worker:${box}`;

export const mail = (db: Database): Projection => {
  const find = db.prepare<[string], string>("SELECT message FROM p_mail WHERE message_id = ?").pluck();
  const add = db.prepare(
    "INSERT INTO p_mail (message_id, box, seq, dead, message, payload, artifact) VALUES (?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const change = db.prepare("UPDATE p_mail SET dead = ?, message = ? WHERE message_id = ?");
  const remove = db.prepare("DELETE FROM p_mail WHERE message_id = ?");
  const reads = db.prepare(
    "INSERT INTO p_mail_readers (box, seq, message_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );

  const fold = (record: LogRecord): void => {
    if (!isOfMail(record)) return;
    const { message_id } = record.payload;
    const found = find.get(message_id);
    const before = found === undefined ? undefined : (JSON.parse(found) as MailMessage);
    const after = foldMail(before, record);
    if (after === before) return;
    if (after === undefined) {
      remove.run(message_id);
      return;
    }
    const text = JSON.stringify(after);
    if (record.type === "mailbox_sent") {
      const { payload, artifact } = record.payload;
      const { box, seq } = after;
      add.run(message_id, box, seq, text, JSON.stringify(payload), artifact?.digest ?? null);
      return;
    }
    change.run(after.dead === null ? 0 : 1, text, message_id);
    if (record.type === "mailbox_delivered" && record.payload.by === selfOf(after.box))
      reads.run(after.box, record.seq, message_id);
  };
  return { fold, flush: () => {}, reset: () => {} };
};

interface MailColumns {
  readonly message: string;
  readonly payload: string;
  readonly artifact: string | null;
}

const show = ({ message, payload, artifact }: MailColumns): MailRow => ({
  ...(JSON.parse(message) as MailMessage),
  payload: JSON.parse(payload) as JsonValue,
  artifact,
});

export const mailRows = (db: Database) => {
  const withPrefix = db.prepare<[string, string, number], MailColumns>(
    "SELECT * FROM p_mail WHERE message_id >= ? AND message_id < ? || '~' ORDER BY message_id LIMIT ?",
  );
  const page = db.prepare<[string, number, number, number], MailColumns>(
    "SELECT * FROM p_mail WHERE box = ? AND dead = ? AND seq > ? ORDER BY seq LIMIT ?",
  );
  const everything = db.prepare<[], string>("SELECT message FROM p_mail ORDER BY seq").pluck();
  const isReader = db.prepare<[string], number>("SELECT 1 FROM p_mail_readers WHERE box = ?").pluck();
  return {
    withPrefix: (prefix: string, limit: number): readonly MailRow[] =>
      withPrefix.all(prefix, prefix, limit).map(show),
    page: (box: string, dead: boolean, after: number, limit: number): readonly MailRow[] =>
      page.all(box, dead ? 1 : 0, after, limit).map(show),
    all: (): readonly MailMessage[] => everything.all().map((text) => JSON.parse(text) as MailMessage),
    isReader: (box: string): boolean => isReader.get(box) !== undefined,
  };
};
