/** The answers of mailboxes. */
import type { MailState } from "../protocol/mail.ts";
import type { DeathCause, MailType } from "../protocol/mail-records.ts";
import type { JsonValue } from "../protocol/talk-records.ts";

export interface MailView {
  readonly message_id: string;
  /** `user`, or the id of a worker. */
  readonly to: string;
  readonly from: string;
  /** The sender's name, where it is a worker that has one. */
  readonly from_name: string | null;
  readonly type: MailType;
  /** The id of the ask that a reply answers. */
  readonly correlation_id: string | null;
  /** Secrets are masked. */
  readonly payload: JsonValue;
  /** The digest of content that was too large for it. */
  readonly artifact: string | null;
  readonly state: MailState;
  /** Deliveries so far, and how many there are at most. */
  readonly attempt: number;
  readonly attempts_max: number;
  readonly sent_at: string;
  /** When the next poll can get it: null for what can be polled now, and for a dead letter. */
  readonly visible_at: string | null;
  /** When it dies unless somebody has it then; null for a dead letter. */
  readonly expires_at: string | null;
  /** The consumer that had it last; null where none has it, or gave it back. */
  readonly holder: string | null;
  /** The words with which it was given back last. */
  readonly note: string | null;
  readonly cause: DeathCause | null;
  readonly died_at: string | null;
}

/** A message under a lease. */
export interface PolledMail extends MailView {
  /** For `ack`, `nack` and `extend`. */
  readonly token: number;
}

export interface MailSentReply {
  readonly message_id: string;
  readonly to: string;
  /** `noop`: it was sent before, under the same key; or the ask has its reply. */
  readonly effect: "created" | "noop";
}

export interface MailPollReply {
  /** None: nothing was there, or came in time. */
  readonly messages: readonly PolledMail[];
}

export interface MailAckReply {
  readonly message_id: string;
  readonly effect: "updated";
  /** The message that carries the reply. */
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
