/** Boards for Effect programs. The promise door loads it, and its types name nothing of it. */
import { Effect, Stream } from "effect";
import type { Registry } from "../adapters/registry.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { BoardReply, CardInfo, CardMoved, CardsAdded, DispatchSet } from "../protocol/replies/board.ts";
import { dispatchAs } from "./asked.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked } from "./checked.ts";
import { checkedThen } from "./checked-then.ts";
import type {
  BoardOptions,
  BoardWatchOptions,
  CardMoveOptions,
  CardOptions,
  CardsOptions,
  DispatchOptions,
} from "./options.ts";

type MoveCall = (asked: CardMoveOptions) => Effect.Effect<CardMoved, HoldfastError>;

/** Boards in an Effect program: a field with a default may be left out. */
export interface BoardCalls {
  add(cards: readonly CardOptions[], options?: BoardOptions): Effect.Effect<CardsAdded, HoldfastError>;
  list(asked?: CardsOptions): Effect.Effect<BoardReply, HoldfastError>;
  show(id: string, options?: BoardOptions): Effect.Effect<CardInfo, HoldfastError>;
  readonly claim: (asked: Omit<CardMoveOptions, "reason">) => Effect.Effect<CardMoved, HoldfastError>;
  readonly release: MoveCall;
  readonly retry: MoveCall;
  readonly block: MoveCall;
  readonly handoff: MoveCall;
  readonly done: MoveCall;
  dispatch(options: DispatchOptions<string>): Effect.Effect<DispatchSet, HoldfastError>;
  watch(options?: BoardWatchOptions): Stream.Stream<LogRecord, HoldfastError>;
}

/** Applies the bounds that hold over the socket. */
export const boardOf = (api: RuntimeCalls, registry: Registry): BoardCalls => {
  const { board } = api;
  return {
    add: (cards, options = {}) =>
      checkedThen(() => checked("board/add", { ...options, cards: [...cards] }), board.add),
    list: (asked = {}) => checkedThen(() => checked("board/list", asked), board.list),
    show: (id, options = {}) => checkedThen(() => checked("board/show", { ...options, id }), board.show),
    claim: (asked) => checkedThen(() => checked("board/claim", asked), board.claim),
    release: (asked) => checkedThen(() => checked("board/release", asked), board.release),
    retry: (asked) => checkedThen(() => checked("board/retry", asked), board.retry),
    block: (asked) => checkedThen(() => checked("board/block", asked), board.block),
    handoff: (asked) => checkedThen(() => checked("board/handoff", asked), board.handoff),
    done: (asked) => checkedThen(() => checked("board/done", asked), board.done),
    dispatch: (options) => dispatchAs(api, registry, options),
    watch: (options = {}) => {
      const query = Effect.try({ try: () => checked("board/watch", options), catch: asHoldfastError });
      return Stream.unwrap(Effect.map(query, board.watch));
    },
  };
};
