/** The answers of mailboxes. */
import type { MailState } from "../protocol/mail.ts";
import type { DeathCause, MailType } from "../protocol/mail-records.ts";
import type { JsonValue } from "../protocol/talk-records.ts";

export interface MailView {
  readonly message_id: string;
  /** `user`, or the id of a worker. */
  readonly to: string;
  readonly from: string;
  /** The sender's name; null if the sender is no worker or has no name. */
  readonly from_name: string | null;
  readonly type: MailType;
  /** The id of the ask that a reply answers; null for other messages. */
  readonly correlation_id: string | null;
  /** The payload, with secrets masked. */
  readonly payload: JsonValue;
  /** The digest of content that is too large for the payload; null if there is none. */
  readonly artifact: string | null;
  readonly state: MailState;
  /** Deliveries so far, and their bound. */
  readonly attempt: number;
  readonly attempts_max: number;
  readonly sent_at: string;
  /** The time from which a poll can get it; null for a message that can be polled now, and for a dead letter. */
  readonly visible_at: string | null;
  /** The time at which it becomes a dead letter unless it is leased then; null for a dead letter. */
  readonly expires_at: string | null;
  /** The consumer that leased it last; null if there is none, or it gave the message back. */
  readonly holder: string | null;
  /** The note with which it was last given back. */
  readonly note: string | null;
  readonly cause: DeathCause | null;
  readonly died_at: string | null;
}

/** A message under a lease. */
export interface PolledMail extends MailView {
  /** The token for `ack`, `nack` and `extend`. */
  readonly token: number;
}

export interface MailSentReply {
  readonly message_id: string;
  readonly to: string;
  /** `noop`: it was sent before with the same key, or the ask already has its reply. */
  readonly effect: "created" | "noop";
}

export interface MailPollReply {
  /** Empty if nothing was there or came in time. */
  readonly messages: readonly PolledMail[];
}

export interface MailAckReply {
  readonly message_id: string;
  readonly effect: "updated";
  /** The id of the message that carries the reply. */
  readonly reply_id?: string;
}

export interface MailLeaseReply {
  readonly message_id: string;
  readonly effect: "updated";
  readonly state: MailState;
  readonly visible_at: string | null;
}

export interface MailListReply {
  readonly messages: readonly MailView[];
  readonly cursor?: string;
}

export interface MailChangedReply {
  readonly message_id: string;
  readonly to: string;
  readonly effect: "updated";
}
