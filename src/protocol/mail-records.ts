/** Messages of mailboxes, as records tell them (docs/explanation/mailboxes.md). A box is one stream; its messages are in the order of the log. */
import type { ClockStamp } from "./clock-stamp.ts";
import type { JsonValue } from "./talk-records.ts";

/** ask: wants one reply. reply: answers an ask. cmd: something to do. event: something to know. */
export const MAIL_TYPES = ["ask", "reply", "cmd", "event"] as const;
export type MailType = (typeof MAIL_TYPES)[number];

/** The address of people and of programs outside of every run. Every other address is the id of a worker. */
export const USER_BOX = "user";

export interface MailSent {
  readonly message_id: string;
  /** The address that a reply goes to: `user`, the id of a worker, or `unknown`. */
  readonly from: string;
  /** The caller that sent it; absent in early records. */
  readonly by?: string;
  readonly type: MailType;
  /** The id of the ask that a reply answers; for others as the sender says. */
  readonly correlates?: string;
  /** Secrets are masked. */
  readonly payload: JsonValue;
  /** Content that is too large for a message. */
  readonly artifact?: { readonly digest: string };
  /** It is delivered within this time, or it dies. */
  readonly ttl_ms: number;
  /** Nobody gets it before. */
  readonly delay_ms: number;
  readonly clock: ClockStamp;
}

/** The token of the lease is the seq of this record. */
export interface MailDelivered {
  readonly message_id: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly lease_ms: number;
  readonly by: string;
  readonly clock: ClockStamp;
}

interface MailHeld {
  readonly message_id: string;
  readonly token: number;
  readonly by: string;
  readonly clock: ClockStamp;
}
export type MailExtended = MailHeld & { readonly lease_ms: number };
/** Its end: the consumer has done what it had to. */
export type MailAcked = MailHeld;
/** It is delivered again after this delay, to anybody. */
export type MailNacked = MailHeld & { readonly delay_ms: number; readonly note?: string };

/** attempts: it was delivered as often as a message is, and never acknowledged. expired: its time to live was over. */
export type DeathCause = "attempts" | "expired";
/** It is a dead letter: nobody gets it unless somebody sends it again. */
export interface MailDied {
  readonly message_id: string;
  readonly cause: DeathCause;
  readonly clock: ClockStamp;
}
/** A dead letter is delivered as if it were new. */
export interface MailResent {
  readonly message_id: string;
  readonly by: string;
  readonly clock: ClockStamp;
}
/** It is gone. `room`: as the oldest dead letter of a box that holds no more of them. `answered`: its asker has waited for it, and has it. */
export interface MailDropped {
  readonly message_id: string;
  readonly why: "asked" | "room" | "answered";
  readonly by: string;
  readonly clock: ClockStamp;
}

/** The payloads of records of mailboxes, by their types: part of `RecordPayloads`. */
export interface MailRecords {
  /** A message is in a mailbox; the stream names whose. */
  mailbox_sent: MailSent;
  /** A consumer has it under a lease. The token of the lease is the seq of this record. */
  mailbox_delivered: MailDelivered;
  /** Its lease begins again; the token stays. */
  mailbox_extended: MailExtended;
  /** Its consumer is done with it: it is gone from the mailbox. */
  mailbox_acked: MailAcked;
  /** Its consumer gave it back. */
  mailbox_nacked: MailNacked;
  /** It is a dead letter. */
  mailbox_died: MailDied;
  /** A dead letter is delivered as if it were new. */
  mailbox_resent: MailResent;
  /** It is gone without an acknowledgement. */
  mailbox_dropped: MailDropped;
}
