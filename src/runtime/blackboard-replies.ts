/** The answers of the blackboard, without Effect, as in `replies.ts`. */
import type { JsonValue } from "../protocol/records.ts";

/** An item of the blackboard. Only the claimer is told the token of a lease. */
export interface ItemView {
  readonly item_id: string;
  readonly ns: string;
  readonly title: string | null;
  readonly body: string | null;
  readonly data: JsonValue;
  readonly tags: readonly string[];
  readonly artifacts: readonly string[];
  readonly state: "free" | "claimed";
  readonly by: string;
  readonly posted_at: string;
  /** The end of its time to live. A held item stays beyond it. */
  readonly expires_at: string;
  /** How many times it was claimed. */
  readonly claims: number;
  readonly lease: { readonly by: string; readonly claimed_at: string; readonly expires_at: string } | null;
}

export interface ItemsReply {
  readonly items: readonly ItemView[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}

export interface PostReply {
  readonly item_id: string;
  readonly ns: string;
  /** `noop`: it was posted before, under the same idempotency key. */
  readonly effect: "created" | "noop";
}

export interface ClaimReply {
  readonly item_id: string;
  /** The fencing token. A later claim of any item has a higher one. */
  readonly token: number;
  readonly lease_expires_at: string;
  readonly item: ItemView;
  /** `noop`: it was claimed before, under the same idempotency key, and is still held. */
  readonly effect: "created" | "updated" | "noop";
}

export interface ReleaseReply {
  readonly item_id: string;
  /** True: the item is finished and removed. */
  readonly done: boolean;
  readonly effect: "updated" | "deleted" | "noop";
}
