/** The canonical types of messages, channels, events, errors and the audit (weblisk.txt, Core Types; notes 4). */
import * as z from "zod";
import { id, map, name, proof, seconds, text, token, url } from "./parts.ts";

export const AgentMessage = z.looseObject({
  id,
  from: name,
  to: name,
  type: z.enum(["request", "response"]),
  action: name,
  payload: map.default({}),
  token: token.optional(),
  signature: proof.optional(),
  signature_jcs: proof.optional(),
  timestamp: seconds.optional(),
  trace_id: id.optional(),
});

export const ChannelRequest = z.looseObject({
  from_agent: name,
  to_agent: name,
  purpose: text.default(""),
  token: token.optional(),
  signature: proof.optional(),
});

export const ChannelGrant = z.looseObject({
  channel_id: id,
  agents: z.array(name),
  token,
  /** Epoch seconds. */
  expires: seconds,
  signature: proof,
  signature_jcs: proof.optional(),
  from_agent: name.optional(),
  to_agent: name.optional(),
  target_url: url.optional(),
  target_pub_key: proof.optional(),
  channel_token: token.optional(),
  expires_at: seconds.optional(),
});

export const ErrorResponse = z.looseObject({
  error: text,
  code: name.optional(),
  category: z.enum(["transient", "permanent", "partial"]).optional(),
  retryable: z.boolean().optional(),
  detail: map.optional(),
  /** Whole seconds. */
  retry_after: z.int().nonnegative().optional(),
});

export const AuditEntry = z.looseObject({
  id,
  timestamp: seconds,
  actor: name,
  action: name,
  target: text,
  detail: z.union([text, map]),
  status: z.enum(["ok", "denied", "failed"]),
  /** SHA-256 in hex of the canonical JSON of the entry before; 64 zeros in the first. */
  previous_hash: z.string().regex(/^[0-9a-f]{64}$/),
});

export const EventEnvelope = z.looseObject({
  event_id: id,
  /** `namespace.entity.action`. */
  topic: name,
  source: name,
  /** `self`, `*` or the name of an agent. */
  scope: name.default("*"),
  correlation_id: id.optional(),
  timestamp: seconds,
  trace_id: id.optional(),
  version: name.default("1"),
  payload: map.default({}),
  token: token.optional(),
});

export const Subscription = z.looseObject({
  pattern: name,
  group: name.optional(),
  scope: name.default("self"),
  max_concurrent: z.int().positive().default(5),
});

export const RouteEntry = z.looseObject({ agent: name, url, group: name.optional(), scope: name });

export const DeadLetterEntry = z.looseObject({
  original_event: EventEnvelope,
  failure_reason: z.enum(["HANDLER_ERROR", "UNREACHABLE", "TIMEOUT", "REJECTED"]),
  last_error: text,
  attempts: z.int().positive(),
  first_attempt: seconds,
  last_attempt: seconds,
  subscriber: name,
});
