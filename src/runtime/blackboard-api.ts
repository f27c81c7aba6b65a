/** The blackboard as its users see it: part of `RuntimeApi`. Every change is durable before the call returns. */
import type { Effect, Stream } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { StartCursor } from "../protocol/cursor.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { ClaimReply, ItemsReply, PostReply, ReleaseReply } from "../protocol/replies/blackboard.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { TakePage } from "./following/follower.ts";

/** The caller of a request, as in `CallerOptions`. */
interface AskedBy {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface ItemsAsked extends Omit<RequestData<"bb/list">, "cursor"> {
  readonly text?: string | undefined;
  readonly cursor?: string | undefined;
}

export interface BlackboardWatch {
  readonly ns: string;
  /** Start after this seq or cursor. Undefined: start at the end of the log. */
  readonly from?: StartCursor | undefined;
  readonly since_ms?: number | undefined;
  readonly follow: boolean;
}

export interface BlackboardApi {
  /** Adds an item. Fails with QUEUE_FULL if the namespace is full, and with ARTIFACT_NOT_FOUND for an unknown digest. */
  post(item: RequestData<"bb/post"> & AskedBy): Effect.Effect<PostReply, HoldfastError>;
  /** Items, oldest first. */
  list(asked: ItemsAsked): Effect.Effect<ItemsReply, HoldfastError>;
  /**
   * Claims an item under a lease. Fails with ITEM_CLAIMED if somebody else holds it, and with ITEM_NOT_FOUND if it is gone
   * or none is free. With a token it extends the lease, and fails with LEASE_LOST if that lease is over.
   */
  claim(asked: RequestData<"bb/claim"> & AskedBy): Effect.Effect<ClaimReply, HoldfastError>;
  /** Gives a claimed item back, or finishes it. Fails with LEASE_LOST if the token is not that of the lease. */
  release(asked: RequestData<"bb/release"> & AskedBy): Effect.Effect<ReleaseReply, HoldfastError>;
  /** Follows the records of a namespace, as `RuntimeApi.follow` does. */
  follow(query: BlackboardWatch, take: TakePage): Effect.Effect<number, HoldfastError>;
  watch(query: BlackboardWatch): Stream.Stream<LogRecord, HoldfastError>;
}
