/**
 * One message of a mailbox, folded from its records: the one place that says how far it is, for a daemon that runs, for a boot and for
 * the projection. Its payload stays with its first record. Pure.
 */
import type { Deadline } from "./clock-stamp.ts";
import type { DeathCause, MailType } from "./mail-records.ts";
import type { LogRecord } from "./records.ts";

export interface MailMessage {
  readonly message_id: string;
  /** Its address. */
  readonly box: string;
  /** The seq of the record that sent it. */
  readonly seq: number;
  readonly from: string;
  readonly type: MailType;
  readonly correlates: string | null;
  /** The size of its payload as JSON. */
  readonly bytes: number;
  readonly sent_at: string;
  /** Not delivered by then, it dies. */
  readonly ttl: Deadline;
  /** Until then nobody gets it: it is delayed, or somebody has it under a lease. */
  readonly hidden: Deadline;
  /** Deliveries so far. */
  readonly attempt: number;
  /** The seq of the newest delivery, as long as nothing has ended it but time. */
  readonly token: number | null;
  readonly holder: string | null;
  /** The words of the newest nack. */
  readonly note: string | null;
  readonly dead: DeathCause | null;
  readonly died_at: string | null;
}

/** delayed: nobody gets it yet. ready: the next poll gets it. leased: a consumer has it. */
export const MAIL_STATES = ["delayed", "ready", "leased", "dead"] as const;
export type MailState = (typeof MAIL_STATES)[number];

const MAILBOX_STREAM = "mailbox:";
export const mailboxStream = (box: string): string => `${MAILBOX_STREAM}${box}`;

const CLOSED = { token: null, holder: null } as const;

/** The message after a record of it; undefined once it is gone. A record of another message changes nothing. */
export const foldMail = (before: MailMessage | undefined, record: LogRecord): MailMessage | undefined => {
  if (record.type === "mailbox_sent") return before ?? sentBy(record);
  if (before === undefined) return undefined;
  const at = record.recorded_at;
  switch (record.type) {
    case "mailbox_delivered": {
      const { attempt, lease_ms, by, clock } = record.payload;
      return {
        ...before,
        attempt,
        token: record.seq,
        holder: by,
        hidden: { clock, at, after_ms: lease_ms },
      };
    }
    case "mailbox_extended": {
      const { lease_ms, clock } = record.payload;
      return { ...before, hidden: { clock, at, after_ms: lease_ms } };
    }
    case "mailbox_nacked": {
      const { delay_ms, clock, note = null } = record.payload;
      return { ...before, ...CLOSED, hidden: { clock, at, after_ms: delay_ms }, note };
    }
    case "mailbox_died":
      return { ...before, ...CLOSED, dead: record.payload.cause, died_at: at };
    case "mailbox_resent": {
      const { clock } = record.payload;
      const ttl = { clock, at, after_ms: before.ttl.after_ms };
      const hidden = { clock, at, after_ms: 0 };
      return { ...before, ttl, hidden, attempt: 0, note: null, dead: null, died_at: null };
    }
    case "mailbox_acked":
    case "mailbox_dropped":
      return undefined;
    default:
      return before;
  }
};

const sentBy = (record: LogRecord & { readonly type: "mailbox_sent" }): MailMessage => {
  const { message_id, from, type, correlates = null, payload, ttl_ms, delay_ms, clock } = record.payload;
  const at = record.recorded_at;
  return {
    message_id,
    box: record.stream.slice(MAILBOX_STREAM.length),
    seq: record.seq,
    from,
    type,
    correlates,
    bytes: Buffer.byteLength(JSON.stringify(payload)),
    sent_at: at,
    ttl: { clock, at, after_ms: ttl_ms },
    hidden: { clock, at, after_ms: delay_ms },
    attempt: 0,
    ...CLOSED,
    note: null,
    dead: null,
    died_at: null,
  };
};

export type MailRecord = Extract<LogRecord, { readonly type: `mailbox_${string}` }>;
export const isOfMail = (record: LogRecord): record is MailRecord => record.type.startsWith("mailbox_");
