/** The requests of mailboxes (docs/explanation/mailboxes.md). Without an id, the caller's own mailbox is meant. */
import * as z from "zod";
import {
  DURATION_MAX_MS,
  MAILBOX_DELAY_MAX_MS,
  MAILBOX_LEASE_DEFAULT_MS,
  MAILBOX_LEASE_MAX_MS,
  MAILBOX_PAGE_DEFAULT,
  MAILBOX_PAGE_MAX,
  MAILBOX_PAYLOAD_MAX_BYTES,
  MAILBOX_POLL_MAX,
  MAILBOX_REASON_MAX_CHARS,
  MAILBOX_TTL_DEFAULT_MS,
  MAILBOX_TTL_MAX_MS,
  PATH_MAX_BYTES,
} from "../base/limits.ts";
import { MAIL_TYPES } from "./mail-records.ts";
import type { JsonValue } from "./talk-records.ts";

const ref = z.string().min(1).max(PATH_MAX_BYTES);
const token = z.int().min(1);
const lease_ms = z.int().min(1).max(MAILBOX_LEASE_MAX_MS).default(MAILBOX_LEASE_DEFAULT_MS);
const delay_ms = z.int().min(0).max(MAILBOX_DELAY_MAX_MS).default(0);
const payload = (z.json() as z.ZodType<JsonValue, JsonValue>).refine(
  (value) => Buffer.byteLength(JSON.stringify(value)) <= MAILBOX_PAYLOAD_MAX_BYTES,
  "the payload is over 32 KB: make it an artifact, and send its digest",
);
const artifact = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "it is no digest of an artifact")
  .optional();

export const MailboxRequests = {
  /** To a worker, or `user`. A reply goes to whom asked: it needs the id of the message instead. */
  "mailbox/send": z
    .strictObject({
      to: ref.optional(),
      type: z.enum(MAIL_TYPES).default("cmd"),
      payload: payload.default(null),
      artifact,
      correlation_id: z.string().min(1).max(64).optional(),
      ttl_ms: z.int().min(1).max(MAILBOX_TTL_MAX_MS).default(MAILBOX_TTL_DEFAULT_MS),
      delay_ms,
      idempotency_key: z.string().min(1).max(256).optional(),
    })
    .refine(({ to, type }) => (to === undefined) === (type === "reply"), "it needs to, or type reply")
    .refine(
      ({ type, correlation_id }) => type !== "reply" || correlation_id !== undefined,
      "a reply needs correlation_id",
    ),
  /** Messages that are due, under a lease; with `wait_ms` as soon as there is one. */
  "mailbox/poll": z.strictObject({
    id: ref.optional(),
    limit: z.int().min(1).max(MAILBOX_POLL_MAX).default(1),
    lease_ms,
    wait_ms: z.int().min(0).max(DURATION_MAX_MS).default(0),
  }),
  /** With `reply`: to the sender, in the same transaction. */
  "mailbox/ack": z.strictObject({
    token,
    reply: z.strictObject({ payload: payload.default(null), artifact }).optional(),
  }),
  "mailbox/nack": z.strictObject({
    token,
    delay_ms,
    note: z.string().max(MAILBOX_REASON_MAX_CHARS).optional(),
  }),
  "mailbox/extend": z.strictObject({ token, lease_ms }),
  /** All but the dead letters, or those; with the cursor of an answer, those after them. */
  "mailbox/list": z.strictObject({
    id: ref.optional(),
    dead: z.boolean().default(false),
    limit: z.int().min(1).max(MAILBOX_PAGE_MAX).default(MAILBOX_PAGE_DEFAULT),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, "it is no cursor of agent mailbox list")
      .optional(),
  }),
  "mailbox/show": z.strictObject({ id: ref }),
  "mailbox/resend": z.strictObject({ id: ref }),
  "mailbox/drop": z.strictObject({ id: ref }),
} as const;
