/** The answers of federation. */
import * as z from "zod";
import { PEER_TIERS, SIGNING_ALGORITHMS, TASK_DIRECTIONS } from "../words.ts";
import { type Reply, time } from "./reply.ts";

const names = z.array(z.string());

export const PeerView = z.object({
  hub_id: z.string(),
  url: z.string(),
  tier: z.enum(PEER_TIERS),
  tier_max: z.enum(["known", "verified"]).describe("the highest tier that its behaviour gives it"),
  source: z.enum(["flags", "configuration"]).describe("the place of its terms"),
  public_key: z.string().nullable().describe("null until the handshake, unless the operator has named it"),
  algorithm: z.enum(SIGNING_ALGORITHMS).nullable(),
  shared_capabilities: names.describe("capabilities that the peer may ask for"),
  capabilities: names.describe("capabilities that the peer says it shares"),
  data_boundary: z.object({
    allow_fields: names,
    deny_fields: names,
    max_payload_size: z.int().describe("bytes after fields were stripped"),
    retention: z.string().describe("none, or hours for which an answer may be kept, as 24h"),
  }),
  rate_limit: z.int().describe("requests in any hour"),
  rate_remaining: z.int(),
  added_at: time,
  met_at: time.nullable(),
  session: z.string().nullable().describe("part of the peer's tokens: they end with it"),
  fingerprint: z.object({
    since: time.nullable(),
    tasks: z.int().describe("the newest ones, by which the peer is judged"),
    failed: z.int(),
    odd: z.int().describe("answers unlike the first one"),
  }),
  open: z.array(
    z.object({
      task_id: z.string(),
      direction: z.enum(TASK_DIRECTIONS),
      capability: z.string(),
      at: time,
    }),
  ),
});
export type PeerView = Reply<typeof PeerView>;

export interface PeersReply {
  readonly peers: readonly PeerView[];
}

export const PeerChange = PeerView.extend({ effect: z.enum(["created", "updated", "deleted", "noop"]) });
export type PeerChange = Reply<typeof PeerChange>;

const AuditEntryView = z.object({
  seq: z.int(),
  id: z.string().describe("32 hexadecimal digits"),
  timestamp: z.int().describe("epoch seconds"),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  detail: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), names]))
    .describe("names and digests; never a value that crossed the boundary"),
  status: z.enum(["ok", "denied", "failed"]),
  previous_hash: z.string(),
});

export const AuditPage = z.object({
  entries: z.array(AuditEntryView),
  next: z.int().describe("the `after` of the next page"),
  is_end: z.boolean(),
});
export type AuditPage = Reply<typeof AuditPage>;

export const AuditVerified = z.object({
  entries: z.int(),
  hash: z.string().describe("hash of the newest entry"),
});
