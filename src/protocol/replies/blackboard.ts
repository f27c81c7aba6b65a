/** The answers of the blackboard. */
import * as z from "zod";
import { digest, id, json, type Reply, time } from "./reply.ts";

/** An item of the blackboard. Only the claimer is told the token of a lease. */
export const ItemView = z.object({
  item_id: id,
  ns: z.string(),
  title: z.string().nullable(),
  body: z.string().nullable(),
  data: json,
  tags: z.array(z.string()),
  artifacts: z.array(digest),
  state: z.enum(["free", "claimed"]),
  by: z.string(),
  posted_at: time,
  expires_at: time.describe("the end of its time to live, unless somebody holds it then"),
  claims: z.int().describe("how often it was claimed"),
  lease: z.object({ by: z.string(), claimed_at: time, expires_at: time }).nullable(),
});
export type ItemView = Reply<typeof ItemView>;

export interface ItemsReply {
  readonly items: readonly ItemView[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

/** `noop`: it was posted before, under the same idempotency key. */
export const PostReply = z.object({ item_id: id, ns: z.string(), effect: z.enum(["created", "noop"]) });
export type PostReply = Reply<typeof PostReply>;

/** `noop`: it was claimed before, under the same idempotency key, and is still held. */
export const ClaimReply = z.object({
  item_id: id,
  token: z.int().describe("the fencing token: a later claim has a higher one"),
  lease_expires_at: time,
  item: ItemView,
  effect: z.enum(["created", "updated", "noop"]),
});
export type ClaimReply = Reply<typeof ClaimReply>;

/** `done`: the item is finished and removed. */
export const ReleaseReply = z.object({
  item_id: id,
  done: z.boolean(),
  effect: z.enum(["updated", "deleted", "noop"]),
});
export type ReleaseReply = Reply<typeof ReleaseReply>;
