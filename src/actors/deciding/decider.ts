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

/** The world of a decider. */
export interface Ground {
  readonly log: Pick<EventLog, "commit">;
  readonly trace?: Trace | undefined;
  readonly now: () => Now;
}

/** A class: there is one for each of a hundred thousand workers. */
export abstract class Decider<State, Input, Decision extends { readonly events: readonly RecordDraft[] }> {
  private readonly ground: Ground;
  private readonly lock = Semaphore.makeUnsafe(1);
  private current: State;

  constructor(ground: Ground, initial: State) {
    this.ground = ground;
    this.current = initial;
  }

  /** Pure. Undefined once the state takes no input any more: nothing is recorded then. */
  protected abstract decide(state: State, input: Input, now: Now): Decision | undefined;
  /** Pure: the state once the decision is on record. */
  protected abstract evolve(state: State, decision: Decision, now: Now): State;
  /** Pure: a full disk may hold the records back, because something is carried out that needs no disk. */
  protected abstract mayHold(state: State, input: Input, decision: Decision): boolean;
  /** Called in the order of the decisions. It must not wait for anything. */
  protected abstract carryOut(input: Input, decision: Decision): void;
  /** For a tracer. */
  protected abstract about(input: Input): Pick<Decided, "tree" | "worker_id" | "input">;

  /** By the records. */
  state(): State {
    return this.current;
  }

  /**
   * Fails where the decision refuses or the store does; nothing has changed then. `extra` comes first, in the same transaction.
   * A decision that is on record is carried out, also where the caller has gone away meanwhile.
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
    const { ground } = this;
    const now = ground.now();
    const decision = this.decide(this.current, input, now);
    if (decision === undefined) return Effect.undefined;
    const drafts = extra.length === 0 ? decision.events : [...extra, ...decision.events];
    const how = this.mayHold(this.current, input, decision) ? { ...options, holds: true } : options;
    const onRecord = (): Decision => {
      const { events } = decision;
      this.current = this.evolve(this.current, decision, now);
      if (ground.trace !== undefined && events.length > 0)
        ground.trace({ ...this.about(input), events, at: BigInt(now.clock.mono_ns) });
      this.carryOut(input, decision);
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
