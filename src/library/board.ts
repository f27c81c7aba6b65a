/** Boards of the promise door: a card for each issue, and a worker for each card. */
import type { Registry } from "../adapters/registry.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { BoardReply, CardInfo, CardMoved, CardsAdded, DispatchSet } from "../protocol/replies/board.ts";
import { type BoardCalls, boardOf } from "./board-calls.ts";
import type { RuntimeCalls } from "./calls.ts";
import type {
  BoardOptions,
  BoardWatchOptions,
  CardMoveOptions,
  CardOptions,
  CardsOptions,
  DispatchOptions,
} from "./options.ts";
import type { RunCall } from "./promises.ts";
import type { Watches } from "./watches.ts";

/**
 * `runtime.board`. Every method rejects with a HoldfastError and nothing else; an answer is durable before it is told. A move
 * rejects with CARD_NOT_FOUND, and with INVALID_STATE where the card cannot go there from its lane.
 */
export class Board<K extends string = never> {
  readonly #calls: BoardCalls;
  readonly #run: RunCall;
  readonly #watches: Watches;

  /** @internal */
  constructor(api: RuntimeCalls, registry: Registry, run: RunCall, watches: Watches) {
    this.#calls = boardOf(api, registry);
    this.#run = run;
    this.#watches = watches;
  }

  /** At most 500 cards. A card whose id the board has takes the new words, and stays where it is. */
  add(cards: readonly CardOptions[], options: BoardOptions = {}): Promise<CardsAdded> {
    return this.#run(() => this.#calls.add(cards, options));
  }

  /** Cards in the order in which they were added, how many are in each lane, and the dispatcher. */
  list(asked: CardsOptions = {}): Promise<BoardReply> {
    return this.#run(() => this.#calls.list(asked));
  }

  /** One card, with its worker and its worktree. */
  show(id: string, options: BoardOptions = {}): Promise<CardInfo> {
    return this.#run(() => this.#calls.show(id, options));
  }

  /** You work on it: the dispatcher leaves it alone. */
  claim(asked: Omit<CardMoveOptions, "reason">): Promise<CardMoved> {
    return this.#run(() => this.#calls.claim(asked));
  }

  /** Gives a claimed card back: the dispatcher may take it. */
  release(asked: CardMoveOptions): Promise<CardMoved> {
    return this.#run(() => this.#calls.release(asked));
  }

  /** Another try, now. */
  retry(asked: CardMoveOptions): Promise<CardMoved> {
    return this.#run(() => this.#calls.retry(asked));
  }

  /** Nothing happens with it until `retry`, `claim` or `done`. */
  block(asked: CardMoveOptions): Promise<CardMoved> {
    return this.#run(() => this.#calls.block(asked));
  }

  /** The work is there, and waits for a review. */
  handoff(asked: CardMoveOptions): Promise<CardMoved> {
    return this.#run(() => this.#calls.handoff(asked));
  }

  done(asked: CardMoveOptions): Promise<CardMoved> {
    return this.#run(() => this.#calls.done(asked));
  }

  /** Sets how many cards run at once, and as which worker. It holds on over restarts of the runtime, until it is set anew. */
  dispatch(options: DispatchOptions<K>): Promise<DispatchSet> {
    return this.#run(() => this.#calls.dispatch(options));
  }

  /** Records of a board, from the log and then live, each once. `close` ends it. */
  watch(options: BoardWatchOptions = {}): AsyncIterable<LogRecord> {
    return this.#watches.iterable(this.#calls.watch(options));
  }
}
