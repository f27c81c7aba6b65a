/** One decision at a time about each card, on record before it counts. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { type CardEvent, decideCard } from "../../control/board/decide.ts";
import { refusalError } from "../../control/board/refusals.ts";
import type { DecisionTime } from "../../control/lease.ts";
import type { Card } from "../../protocol/board.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { Core } from "../core.ts";
import { Locks } from "./locks.ts";

export type CardKey = Pick<Card, "board" | "issue_id">;
export type CardWork<A> = Effect.Effect<A, HoldfastError>;

export interface CardChange {
  readonly card: Card;
  readonly isChanged: boolean;
}

export class Cards {
  private readonly core: Core;
  private readonly locks = new Locks();

  constructor(core: Core) {
    this.core = core;
  }

  time(): DecisionTime & { readonly random: number } {
    const { boot_id } = this.core.services;
    const { mono_ms, clock, wall, random } = this.core.now();
    return { boot_id, mono_ms, wall_ms: wall.ms, clock, random };
  }

  one({ board, issue_id }: CardKey): Card | undefined {
    return this.core.services.views.card(board, issue_id);
  }

  /** Nobody else decides about the card meanwhile. */
  alone<A>({ board, issue_id }: CardKey, work: CardWork<A>): CardWork<A> {
    return this.locks.alone(`${board} ${issue_id}`, work);
  }

  /** Cards are added to a board one request after the other, so that two of them never discover the same card. */
  addingTo<A>(board: string, work: CardWork<A>): CardWork<A> {
    return this.locks.alone(board, work);
  }

  change(key: CardKey, input: CardEvent): CardWork<CardChange> {
    return this.alone(key, this.decide(key, input));
  }

  /** For work that has the card alone. */
  decide(key: CardKey, input: CardEvent): CardWork<CardChange> {
    return Effect.gen({ self: this }, function* () {
      const before = yield* attempt(() => this.one(key));
      const { events, refused } = decideCard(key, before, input, this.time());
      if (refused !== undefined) return yield* Effect.fail(refusalError(key.board, key.issue_id, refused));
      if (events.length > 0) yield* this.core.commit(events);
      const card = events.length === 0 ? before : yield* attempt(() => this.one(key));
      return { card: card as Card, isChanged: events.length > 0 };
    });
  }
}
