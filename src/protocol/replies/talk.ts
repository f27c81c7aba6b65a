/** The answers about messages, requests for permission and holds, and what an agent has said. */
import * as z from "zod";
import { ANSWERS, HOLD_REASONS } from "../holds.ts";
import type { MessageRow } from "../message-row.ts";
import { digest, effect, id, json, type Reply, summary, time } from "./reply.ts";
import { usage } from "./usage.ts";

const messageState = z.enum(["accepted", "delivered", "acknowledged", "undeliverable", "unknown"]);

export const message: z.ZodType<MessageRow> = z.object({
  worker_id: id,
  message_id: id,
  seq: z.int(),
  bytes: z.int(),
  masked: z.boolean().describe("it holds a secret, so its text is shown only masked"),
  closes: z.boolean().describe("it closes the agent's input"),
  state: messageState,
  line: z.boolean().describe("it is a line of the agent's protocol, not a person's words"),
  bound: z.int().nullable().describe("the only incarnation that may get it"),
  open: z.boolean().describe("the message or its acknowledgement is still awaited"),
  deliveries: z.int(),
  incarnation: z.int().nullable(),
  end: z.int().nullable().describe("bytes of the agent's stdin up to the end of this message"),
  turn: z.int().nullable(),
  reason: z.string().nullable(),
  accepted_at: time,
  changed_at: time,
});

/** Messages in the order in which they were accepted. */
export interface MessagesReply {
  readonly messages: readonly MessageRow[];
  /** The cursor of the page before these; absent if there is none. */
  readonly cursor?: string;
}

/** `state`: by now: accepted (no agent runs), delivered, or later if it was sent before. */
export const MessageReply = z.object({
  message_id: id,
  state: messageState,
  effect: z.enum(["created", "noop"]),
});
export type MessageReply = Reply<typeof MessageReply>;

/** A request for permission. */
export const ApprovalView = z.object({
  approval_id: id,
  worker_id: id,
  /** The worker's name. */
  worker: z.string().nullable(),
  seq: z.int(),
  incarnation: z.int(),
  tool: z.string().nullable(),
  tool_use_id: z.string().nullable(),
  title: z.string(),
  input: json.describe("the tool's input, secrets masked"),
  state: z.enum(["open", "allowed", "denied", "withdrawn"]),
  by: z.string().nullable(),
  message: z.string().nullable(),
  requested_at: z.string(),
  answered_at: z.string().nullable(),
  /** Null if it is not open or its agent is paused. */
  expires_at: z.string().nullable().describe("when it is answered without a person"),
  otherwise: z.enum(["deny", "allow"]).describe("the answer at that time"),
});
export type ApprovalView = Reply<typeof ApprovalView>;

export interface ApprovalsReply {
  readonly approvals: readonly ApprovalView[];
  readonly cursor?: string;
}

/** `what`: the tool's input, or the agent's description of it. */
export const ApprovedReply = z.object({
  approval_id: id,
  worker_id: id,
  decision: z.enum(["allow", "deny"]),
  tool: z.string().nullable(),
  what: z.string(),
  effect: z.enum(["updated", "noop"]),
});
export type ApprovedReply = Reply<typeof ApprovedReply>;

/** A hold. Its id is that of a request for permission, else `WORKER:HOLD` or `SUPERVISOR:HOLD`. A worker without a place has no id yet. */
export const HoldView = z.object({
  id: z.string().describe("as agent answer takes it"),
  reason: z.enum(HOLD_REASONS),
  worker_id: id.nullable(),
  /** The worker's name. */
  worker: z.string().nullable(),
  supervisor: z.string().nullable().describe("path of the supervisor, for the budget of a supervisor"),
  incarnation: z.int().nullable(),
  question: z.string(),
  /** Empty: it ends without a person. */
  answers: z.array(z.enum(ANSWERS)),
  since: z.string(),
  /** Null if it waits for ever or its agent is paused. */
  expires_at: z.string().nullable().describe("when it is answered without a person"),
  otherwise: z.enum(["allow", "deny", "stop"]).nullable().describe("the answer at that time"),
  tool: z.string().nullable().optional(),
  input: json.optional().describe("the tool's input, secrets masked"),
  needs: z.record(z.string(), z.string()).optional().describe("labels that no node of the cluster has"),
  limit: z.string().optional().describe("the bound of the budget that is spent"),
  shared_id: z
    .string()
    .optional()
    .describe(
      "a question of a whole cluster has it: rows of several hosts with the same one are one question",
    ),
});
export type HoldView = Reply<typeof HoldView>;

export interface InboxReply {
  readonly holds: readonly HoldView[];
  readonly cursor?: string;
}

/** `noop`: it already had this answer. */
export const Answered = z.object({ id, question_id: z.string(), answer: z.enum(ANSWERS), effect });
export type Answered = Reply<typeof Answered>;

/** The turn that answered a message, or the reply from a mailbox, whose payload is JSON unless it is a string. */
export const AnswerReply = z.object({
  id,
  message_id: id,
  turn: z.int().nullable().describe("null for a reply out of a mailbox, as its usage"),
  text: z.string(),
  truncated: z.boolean(),
  usage: usage.nullable(),
  duration_ms: z.number().nullable(),
  artifact: digest.optional(),
  summary: summary.optional(),
});
export type AnswerReply = Reply<typeof AnswerReply>;

/** `text`: up to 16 MiB or the requested bound. `truncated`: it goes on, or lines over the limit were left out. */
export const OutputReply = z.object({
  id,
  text: z.string(),
  truncated: z.boolean(),
  omitted_bytes: z.int().describe("bytes of the answer that are missing in its text"),
  artifact: digest.optional().describe("the same text, for agent cas get"),
  summary: summary.optional().describe("its size, kind and beginning"),
});
export type OutputReply = Reply<typeof OutputReply>;
