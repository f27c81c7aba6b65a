/**
 * The one place where an input is decided and recorded, and only then folded and carried out: what the store refuses has
 * changed nothing. One decision at a time. A file's tree has one decider for all of its supervisors and workers; a spawned
 * worker is a tree of one, with a decider of its own.
 */
import { Effect, Semaphore } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { AppendOptions, EventLog } from "../../store/port.ts";
import type { Now } from "../../supervisor/clocks/now.ts";
import { attemptAsync, typed } from "../machine/attempt.ts";
import type { Decided, Trace } from "../trace.ts";

/** The pure half of a decider, and who carries out its decisions. */
export interface Deciding<State, Input, Decision extends { readonly events: readonly RecordDraft[] }> {
  /** Undefined once the state takes no input any more: nothing is recorded then. */
  decide(state: State, input: Input, now: Now): Decision | undefined;
  /** The state once the decision is on record. */
  evolve(state: State, decision: Decision, now: Now): State;
  /** A full disk may hold the records back, because something is carried out that needs no disk. */
  mayHold(state: State, input: Input, decision: Decision): boolean;
  /** Called in the order of the decisions. It must not wait for anything. */
  carryOut(input: Input, decision: Decision): void;
  /** For a tracer. */
  about(input: Input): Pick<Decided, "tree" | "worker_id" | "input">;
}

/** The world of a decider. */
export interface Ground {
  readonly log: Pick<EventLog, "commit">;
  readonly trace?: Trace | undefined;
  readonly now: () => Now;
}

export class Decider<State, Input, Decision extends { readonly events: readonly RecordDraft[] }> {
  private readonly ground: Ground;
  private readonly deciding: Deciding<State, Input, Decision>;
  private readonly lock = Semaphore.makeUnsafe(1);
  private current: State;

  constructor(ground: Ground, initial: State, deciding: Deciding<State, Input, Decision>) {
    this.ground = ground;
    this.current = initial;
    this.deciding = deciding;
  }

  /** By the records. */
  state(): State {
    return this.current;
  }

  /**
   * Fails where the decision refuses or the store does; nothing has changed then. `extra` comes first, in the same transaction.
   * Whoever asked may go away in the middle: what is on record by then is carried out all the same.
   */
  input(
    input: Input,
    extra: readonly RecordDraft[] = NONE,
    options?: AppendOptions,
  ): Effect.Effect<Decision | undefined, HoldfastError> {
    return this.inTurn(() => this.decided(input, extra, options));
  }

  /** An input that is made from the state as it is when its turn comes. */
  change(
    make: (state: State) => Effect.Effect<Input, HoldfastError>,
  ): Effect.Effect<Decision | undefined, HoldfastError> {
    return this.inTurn(() => Effect.flatMap(make(this.current), (input) => this.decided(input, NONE)));
  }

  private inTurn<A>(work: () => Effect.Effect<A, HoldfastError>): Effect.Effect<A, HoldfastError> {
    return this.lock.withPermits(1)(Effect.uninterruptible(typed(Effect.suspend(work))));
  }

  private decided(
    input: Input,
    extra: readonly RecordDraft[],
    options?: AppendOptions,
  ): Effect.Effect<Decision | undefined, HoldfastError> {
    const { ground, deciding } = this;
    const now = ground.now();
    const decision = deciding.decide(this.current, input, now);
    if (decision === undefined) return Effect.undefined;
    const drafts = extra.length === 0 ? decision.events : [...extra, ...decision.events];
    const how = deciding.mayHold(this.current, input, decision) ? { ...options, holds: true } : options;
    const onRecord = (): Decision => {
      const { events } = decision;
      this.current = deciding.evolve(this.current, decision, now);
      if (ground.trace !== undefined && events.length > 0)
        ground.trace({ ...deciding.about(input), events, at: BigInt(now.clock.mono_ns) });
      deciding.carryOut(input, decision);
      return decision;
    };
    if (drafts.length === 0) return Effect.sync(onRecord);
    return Effect.map(
      attemptAsync(() => ground.log.commit(drafts, how)),
      onRecord,
    );
  }
}

const NONE: readonly never[] = [];
