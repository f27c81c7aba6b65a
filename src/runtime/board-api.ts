/** Boards as their users see them: part of `RuntimeApi`. Every answer is durable before it is told. */
import type { Effect, Stream } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { StartCursor } from "../protocol/cursor.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { BoardReply, CardInfo, CardMoved, CardsAdded, DispatchSet } from "../protocol/replies/board.ts";
import type { RequestData } from "../protocol/requests.ts";
import type { TakePage } from "./following/follower.ts";

interface CardCaller {
  readonly caller?: Caller | undefined;
}

export interface BoardWatch {
  readonly board: string;
  /** Records after this seq or cursor; undefined begins at the end of the log. */
  readonly from?: StartCursor | undefined;
  readonly since_ms?: number | undefined;
  readonly follow: boolean;
}

/** A move fails with CARD_NOT_FOUND, and with INVALID_STATE where the card cannot go there from its lane, or somebody else holds it. */
export interface BoardApi {
  /** QUEUE_FULL where the board has all the cards that it may have. POLICY_VIOLATION for an agent with reduced rights, since a card starts work. */
  add(asked: RequestData<"board/add"> & CardCaller): Effect.Effect<CardsAdded, HoldfastError>;
  /** In the order of their discovery. */
  list(asked: RequestData<"board/list">): Effect.Effect<BoardReply, HoldfastError>;
  show(asked: RequestData<"board/show">): Effect.Effect<CardInfo, HoldfastError>;
  /** The dispatcher leaves it alone meanwhile. */
  claim(asked: RequestData<"board/claim"> & CardCaller): Effect.Effect<CardMoved, HoldfastError>;
  release(asked: RequestData<"board/release"> & CardCaller): Effect.Effect<CardMoved, HoldfastError>;
  retry(asked: RequestData<"board/retry"> & CardCaller): Effect.Effect<CardMoved, HoldfastError>;
  block(asked: RequestData<"board/block"> & CardCaller): Effect.Effect<CardMoved, HoldfastError>;
  handoff(asked: RequestData<"board/handoff"> & CardCaller): Effect.Effect<CardMoved, HoldfastError>;
  done(asked: RequestData<"board/done"> & CardCaller): Effect.Effect<CardMoved, HoldfastError>;
  /** Sets how many cards run at once, and as which worker. Everything that a spawn would refuse is refused here. */
  dispatch(asked: RequestData<"board/dispatch"> & CardCaller): Effect.Effect<DispatchSet, HoldfastError>;
  /** Records of a board, as `RuntimeApi.follow` has them. */
  follow(query: BoardWatch, take: TakePage): Effect.Effect<number, HoldfastError>;
  watch(query: BoardWatch): Stream.Stream<LogRecord, HoldfastError>;
}
