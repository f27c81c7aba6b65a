/**
 * What a worker's shell writes and remembers. An input is decided, recorded, and only then folded and told to the
 * machine: what the store refuses has changed nothing. One decision at a time.
 */
import { Clock, Effect, Schedule, Semaphore } from "effect";
import type { WorkerEvent } from "../actors/worker-machine.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import { STORE_RETRY_MS } from "../protocol/limits.ts";
import type { LogRecord, RecordDraft } from "../protocol/records.ts";
import { isEnded } from "../protocol/worker.ts";
import type { AppendOptions, EventLog } from "../store/port.ts";
import { attempt, attemptAsync, typed } from "./attempt.ts";
import { decide } from "./decide.ts";
import type { Decider } from "./decider.ts";
import { evolve } from "./evolve.ts";
import type { ChildState, Command, Input, Now } from "./inputs.ts";
import type { Services } from "./services.ts";

export interface Journal {
  /** What the records say of the worker. */
  readonly child: () => ChildState;
  readonly now: Effect.Effect<Now>;
  /** For requests: fails where the store does, and nothing has changed then. What has ended takes nothing any more. */
  input(input: Input): Effect.Effect<void, HoldfastError>;
  /** For what has happened already: the store takes it, now or when it can again; `extra` comes first, in one transaction. */
  fact(input: Input, extra?: readonly RecordDraft[], options?: AppendOptions): Effect.Effect<void>;
  /** Records without a decision. */
  commit(
    drafts: readonly RecordDraft[],
    options?: AppendOptions,
  ): Effect.Effect<readonly LogRecord[], HoldfastError>;
  note(drafts: readonly RecordDraft[], options?: AppendOptions): Effect.Effect<void>;
  /** Reads the log, now or when it can be read again. */
  ask<A>(read: (log: EventLog) => A): Effect.Effect<A>;
}

export const makeJournal = (
  services: Services,
  initial: ChildState,
  tell: (event: WorkerEvent) => void,
  decider?: Decider,
): Journal => {
  const { log } = services;
  const deciding = Semaphore.makeUnsafe(1);
  let child = initial;

  const now = Effect.map(Clock.Clock, (clock): Now => {
    const nanos = clock.monotonicTimeNanosUnsafe();
    return {
      mono_ms: Number(nanos / 1_000_000n),
      clock: { boot_id: services.boot_id, mono_ns: String(nanos) },
      random: services.random(),
    };
  });

  const commit: Journal["commit"] = (drafts, options) => attemptAsync(() => log.commit(drafts, options));

  const decideAndRecord = (input: Input, extra: readonly RecordDraft[], options?: AppendOptions) =>
    Effect.gen(function* () {
      if (isEnded(child.state)) return;
      const at = yield* now;
      const { events, commands } = decide(child, input, at);
      if (extra.length + events.length > 0) yield* commit([...extra, ...events], options);
      child = events.reduce((state, event) => evolve(state, event, at.mono_ms), child);
      for (const command of commands) tell(eventOf(command));
    });

  /** Whoever asked may go away in the middle: what is on record by then is carried out all the same. */
  const input = (given: Input, extra: readonly RecordDraft[] = [], options?: AppendOptions) =>
    decider !== undefined
      ? Effect.uninterruptible(attemptAsync(() => decider.input(given, extra, options)))
      : deciding.withPermits(1)(Effect.uninterruptible(typed(decideAndRecord(given, extra, options))));

  /** INTERNAL is a mistake of ours, which the next attempt would make again. */
  const insist = <A>(effect: Effect.Effect<A, HoldfastError>): Effect.Effect<A> =>
    effect.pipe(
      Effect.tapError((error) =>
        Effect.sync(() => services.report(`worker ${child.worker_id} waits for the store: ${error.message}`)),
      ),
      Effect.retry({ schedule: storeRetry, while: (error) => error.code !== "INTERNAL" }),
      Effect.orDie,
    );

  return {
    child: decider?.child ?? (() => child),
    now,
    input: (given) => input(given),
    fact: (given, extra, options) => insist(input(given, extra, options)),
    commit,
    note: (drafts, options) => Effect.asVoid(insist(commit(drafts, options))),
    ask: (read) => insist(attempt(() => read(log))),
  };
};

const storeRetry = Schedule.spaced(STORE_RETRY_MS);

/** What a command of the supervisor is to a worker's machine. */
export const eventOf = (command: Command): WorkerEvent => {
  switch (command.type) {
    case "start":
      return { type: "START" };
    case "stop":
      return { type: "STOP", grace_ms: command.grace_ms, signal: command.signal };
    case "restart_after":
      return { type: "RESTART_AFTER", delay_ms: command.delay_ms };
    case "end":
      return { type: "END", state: command.state };
  }
};
