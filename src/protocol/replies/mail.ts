/** The answers of mailboxes. */
import * as z from "zod";
import { MAIL_STATES } from "../mail.ts";
import { MAIL_TYPES } from "../mail-records.ts";
import { digest, effect, id, json, type Reply } from "./reply.ts";

export const MailView = z.object({
  message_id: id,
  to: z.string().describe("user, or the id of a worker"),
  from: z.string().describe("user, unknown, or the id of a worker"),
  /** The sender's name; null if the sender is no worker or has no name. */
  from_name: z.string().nullable(),
  type: z.enum(MAIL_TYPES),
  correlation_id: z.string().nullable().describe("the message that a reply answers"),
  payload: json.describe("secrets masked"),
  artifact: digest.nullable().describe("content that was too large, for agent cas get"),
  state: z.enum(MAIL_STATES),
  attempt: z.int().describe("deliveries so far"),
  attempts_max: z.int(),
  sent_at: z.string(),
  visible_at: z
    .string()
    .nullable()
    .describe("when the next poll can get it; null for now, and for a dead letter"),
  /** The time at which it becomes a dead letter unless it is leased then; null for a dead letter. */
  expires_at: z.string().nullable(),
  holder: z.string().nullable().describe("the consumer that has it"),
  note: z.string().nullable().describe("the words with which it was given back last"),
  cause: z.enum(["attempts", "expired"]).nullable().describe("the cause of its death"),
  died_at: z.string().nullable(),
});
export type MailView = Reply<typeof MailView>;

/** `noop`: it was sent before with the same key, or the ask already has its reply. */
export const MailSentReply = z.object({
  message_id: id,
  to: z.string(),
  effect: z.enum(["created", "noop"]),
});
export type MailSentReply = Reply<typeof MailSentReply>;

/** A message under a lease. */
export const PolledMail = MailView.extend({ token: z.int().describe("for ack, nack and extend") });
export type PolledMail = Reply<typeof PolledMail>;

export interface MailPollReply {
  /** Empty if nothing was there or came in time. */
  readonly messages: readonly PolledMail[];
}

/** `reply_id`: the message that carries the reply. */
export const MailAckReply = z.object({ message_id: id, effect, reply_id: id.optional() });
export type MailAckReply = Reply<typeof MailAckReply>;

export const MailLeaseReply = z.object({
  message_id: id,
  effect,
  state: z.enum(MAIL_STATES),
  visible_at: z.string().nullable(),
});
export type MailLeaseReply = Reply<typeof MailLeaseReply>;

export interface MailListReply {
  readonly messages: readonly MailView[];
  readonly cursor?: string;
}

export const MailChangedReply = z.object({ message_id: id, to: z.string(), effect });
export type MailChangedReply = Reply<typeof MailChangedReply>;
