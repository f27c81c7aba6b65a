/** The blackboard as its users see it: part of `RuntimeApi`. Every answer is durable before it is told. */
import type { Effect, Stream } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { StartCursor } from "../protocol/cursor.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { ClaimReply, ItemsReply, PostReply, ReleaseReply } from "./blackboard-replies.ts";
import type { TakePage } from "./following/follower.ts";

/** The caller, as in `CallerOptions`. */
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
  /** Records after this seq or cursor; undefined begins at the end of the log. */
  readonly from?: StartCursor | undefined;
  readonly since_ms?: number | undefined;
  readonly follow: boolean;
}

export interface BlackboardApi {
  /** QUEUE_FULL where the namespace has all the items that it may have, ARTIFACT_NOT_FOUND for a digest that is not there. */
  post(item: RequestData<"bb/post"> & AskedBy): Effect.Effect<PostReply, HoldfastError>;
  /** Oldest first. */
  list(asked: ItemsAsked): Effect.Effect<ItemsReply, HoldfastError>;
  /**
   * ITEM_CLAIMED where somebody else holds it, ITEM_NOT_FOUND where it is gone or none is free. With a token it extends the lease: LEASE_LOST
   * where that lease is over.
   */
  claim(asked: RequestData<"bb/claim"> & AskedBy): Effect.Effect<ClaimReply, HoldfastError>;
  /** LEASE_LOST where the token is not that of the lease. */
  release(asked: RequestData<"bb/release"> & AskedBy): Effect.Effect<ReleaseReply, HoldfastError>;
  /** Records of a namespace, as `RuntimeApi.follow` has them. */
  follow(query: BlackboardWatch, take: TakePage): Effect.Effect<number, HoldfastError>;
  watch(query: BlackboardWatch): Stream.Stream<LogRecord, HoldfastError>;
}
