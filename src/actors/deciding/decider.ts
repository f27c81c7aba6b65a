/**
 * Decides an input, records the decision, and only then folds it and carries it out: if the store refuses, nothing has
 * changed. It makes one decision at a time. A file's tree has one decider for all its supervisors and workers; a
 * spawned worker is a tree of one, with its own decider.
 */
import { Effect, Semaphore } from "effect";
import { TRANSACTION_MAX_RECORDS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { AppendOptions, EventLog } from "../../store/event-log.ts";
import type { Now } from "../../supervisor/clocks/now.ts";
import { attemptAsync, typed } from "../machine/attempt.ts";
import type { Trace, TracedDecision } from "../trace.ts";

/** The outside world of a decider: the log, the clock and the tracer. */
export interface DeciderPorts {
  readonly log: Pick<EventLog, "commit">;
  readonly trace?: Trace | undefined;
  readonly now: () => Now;
}

/** An input that waits for its decision. */
export interface PendingInput<Input, Decision> {
  readonly input: Input;
  /** Records that come before those of the decision. */
  readonly extra: readonly RecordDraft[];
  /** Pure. Makes a second input for the same transaction from the decision; undefined for none. */
  readonly then?: ((decision: Decision) => Input | undefined) | undefined;
  /** Set once the decision is on record. Its `decision` is undefined if the state takes no input any more. */
  answer?: { readonly decision: Decision | undefined };
}

/** An input with its decision, in the order of the records. `asked` is set if a caller waits for it. */
interface TakenInput<Input, Decision> {
  readonly asked?: PendingInput<Input, Decision>;
  readonly input: Input;
  readonly decision: Decision | undefined;
}

/** A class, not a closure, to save memory: a daemon may have a hundred thousand of them. */
export abstract class Decider<State, Input, Decision extends { readonly events: readonly RecordDraft[] }> {
  private readonly ground: DeciderPorts;
  private readonly lock = Semaphore.makeUnsafe(1);
  private current: State;

  constructor(ground: DeciderPorts, initial: State) {
    this.ground = ground;
    this.current = initial;
  }

  /** Pure. Undefined if the state takes no input any more: nothing is recorded then. */
  protected abstract decide(state: State, input: Input, now: Now): Decision | undefined;
  /** Pure. Returns the state after the decision is on record. */
  protected abstract evolve(state: State, decision: Decision, now: Now): State;
  /** Pure. True if the decision must be carried out even on a full disk: its records are then held until there is room. */
  protected abstract mayHold(state: State, input: Input, decision: Decision): boolean;
  /** Called in the order of the decisions. It must not wait. */
  protected abstract carryOut(input: Input, decision: Decision): void;
  /** Names the decision for a tracer. */
  protected abstract about(input: Input): Pick<TracedDecision, "tree" | "worker_id" | "input">;

  /** The state by the records so far. */
  state(): State {
    return this.current;
  }

  /**
   * Decides and records one input. Fails if the decision or the store refuses, and then nothing has changed. `extra`
   * comes first, in the same transaction. A recorded decision is carried out even if the caller has gone away.
   */
  input(
    input: Input,
    extra: readonly RecordDraft[] = NONE,
    options?: AppendOptions,
    then?: PendingInput<Input, Decision>["then"],
  ): Effect.Effect<Decision | undefined, HoldfastError> {
    return this.inTurn(() => this.alone({ input, extra, then }, options));
  }

  /** Decides an input that `make` builds from the current state when its turn comes. */
  change(
    make: (state: State) => Effect.Effect<Input, HoldfastError>,
  ): Effect.Effect<Decision | undefined, HoldfastError> {
    return this.inTurn(() =>
      Effect.flatMap(make(this.current), (input) => this.alone({ input, extra: NONE })),
    );
  }

  protected inTurn<A>(work: () => Effect.Effect<A, HoldfastError>): Effect.Effect<A, HoldfastError> {
    return this.lock.withPermits(1)(Effect.uninterruptible(typed(Effect.suspend(work))));
  }

  protected alone(
    asked: PendingInput<Input, Decision>,
    options?: AppendOptions,
  ): Effect.Effect<Decision | undefined, HoldfastError> {
    return Effect.map(this.decided([asked], options), () => asked.answer?.decision);
  }

  /**
   * Decides the first input, and those behind it as far as they fit into the same transaction. Sets the answer of each
   * input that is on record.
   */
  protected decided(
    all: readonly PendingInput<Input, Decision>[],
    options?: AppendOptions,
  ): Effect.Effect<void, HoldfastError> {
    const { ground } = this;
    const now = ground.now();
    const { taken, drafts, holds } = this.fitting(all, now);
    const onRecord = (): void => {
      for (const { asked, input, decision } of taken) {
        if (asked !== undefined) asked.answer = { decision };
        if (decision === undefined) continue;
        this.current = this.evolve(this.current, decision, now);
        const { events } = decision;
        if (ground.trace !== undefined && events.length > 0)
          ground.trace({ ...this.about(input), events, at: BigInt(now.clock.mono_ns) });
        this.carryOut(input, decision);
      }
    };
    if (drafts.length === 0) return Effect.sync(onRecord);
    const how = holds ? { ...options, holds: true } : options;
    return Effect.map(
      attemptAsync(() => ground.log.commit(drafts, how)),
      onRecord,
    );
  }

  /** Makes the decisions of one transaction, each on the state after the one before it. */
  private fitting(all: readonly PendingInput<Input, Decision>[], now: Now) {
    const taken: TakenInput<Input, Decision>[] = [];
    const drafts: RecordDraft[] = [];
    let state = this.current;
    let holds: boolean | undefined;
    for (const asked of all) {
      // If the first decision throws, its caller fails. A later one that throws is left for its own turn.
      const decision =
        taken.length === 0 ? this.decide(state, asked.input, now) : this.tried(state, asked, now);
      if (decision === THROWN) break;
      if (decision !== undefined) {
        const mayHold = this.mayHold(state, asked.input, decision);
        const some = asked.extra.length + decision.events.length;
        if (
          taken.length > 0 &&
          (drafts.length + some > TRANSACTION_MAX_RECORDS || mayHold !== (holds ?? mayHold))
        )
          break;
        holds = mayHold;
        for (const draft of asked.extra) drafts.push(draft);
        for (const draft of decision.events) drafts.push(draft);
        state = this.evolve(state, decision, now);
      }
      taken.push({ asked, input: asked.input, decision });
      // A full disk may hold back these records, so no input is added that must wait for its record.
      const second = decision && holds !== true ? this.following(asked, decision, state, now) : undefined;
      if (second === undefined) continue;
      for (const draft of second.decision.events) drafts.push(draft);
      state = this.evolve(state, second.decision, now);
      taken.push(second);
    }
    return { taken, drafts, holds: holds === true };
  }

  private following({ then }: PendingInput<Input, Decision>, first: Decision, state: State, now: Now) {
    const next = then?.(first);
    if (next === undefined) return undefined;
    const decision = this.decide(state, next, now);
    return decision === undefined ? undefined : { input: next, decision };
  }

  private tried(
    state: State,
    { input }: PendingInput<Input, Decision>,
    now: Now,
  ): Decision | typeof THROWN | undefined {
    try {
      return this.decide(state, input, now);
    } catch {
      return THROWN;
    }
  }
}

const THROWN = Symbol("thrown");
const NONE: readonly never[] = [];
