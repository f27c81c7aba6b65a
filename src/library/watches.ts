/** Watches for the promise API: streams as async iterables that end with the runtime. */
import { Deferred, Effect, Stream } from "effect";
import { WATCHES_DRAIN_MAX_MS } from "../base/limits.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import { checkSignal } from "./checked.ts";
import { closed } from "./promises.ts";
import { inProgram } from "./suggestions.ts";

export class Watches {
  /** Readers that wait for their next item. */
  readonly #waiting = new Set<Promise<unknown>>();
  /** Completed once supervision has ended: a watch that still waits then ends. */
  readonly #stopped = Deferred.makeUnsafe<void>();
  #isClosing = false;

  get isStopped(): boolean {
    return Deferred.isDoneUnsafe(this.#stopped);
  }

  /** Completes once supervision has ended. */
  get stopped(): Effect.Effect<void> {
    return Deferred.await(this.#stopped);
  }

  /** From now on, a watch that cannot read further ends instead of failing. */
  closing(): void {
    this.#isClosing = true;
  }

  /** The items as they come. The end of the runtime, or an abort of the signal, ends them without an error. */
  iterable<A>(items: Stream.Stream<A, HoldfastError>, signal?: AbortSignal): AsyncIterable<A> {
    const untilClosed = Stream.catch(items, (error) =>
      this.#isClosing ? Stream.empty : Stream.fail(inProgram(error)),
    );
    const stopped = Deferred.await(this.#stopped);
    const signalled = Effect.try({ try: () => checkSignal(signal), catch: asHoldfastError });
    const ended = signal === undefined ? stopped : Effect.raceFirst(stopped, abortOf(signal));
    const open = Stream.unwrap(Effect.as(signalled, Stream.interruptWhen(untilClosed, ended)));
    const all = Stream.toAsyncIterable(Stream.suspend(() => (this.isStopped ? Stream.fail(closed()) : open)));
    return { [Symbol.asyncIterator]: () => this.#counted(all[Symbol.asyncIterator]()) };
  }

  /** Gives every waiting reader the recorded items and then its end. It does not wait for a reader that is busy elsewhere. */
  async drain(): Promise<void> {
    const { promise: tooLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, WATCHES_DRAIN_MAX_MS);
    let isOver = false;
    void tooLate.then(() => {
      isOver = true;
    });
    while (this.#waiting.size > 0 && !isOver) {
      await Promise.race([Promise.allSettled(this.#waiting), tooLate]);
      // The reader asks for the next item in this turn of the loop, or is busy.
      await new Promise((turn) => setImmediate(turn));
    }
    clearTimeout(timer);
  }

  stop(): void {
    Deferred.doneUnsafe(this.#stopped, Effect.void);
  }

  #counted<A>(items: AsyncIterator<A>): AsyncIterator<A> {
    const next = (): Promise<IteratorResult<A>> => {
      const asked = items.next();
      this.#waiting.add(asked);
      const answered = (): void => void this.#waiting.delete(asked);
      asked.then(answered, answered);
      return asked;
    };
    return { next, return: async () => (await items.return?.()) ?? { done: true, value: undefined } };
  }
}

/** Completes once the signal is aborted. */
const abortOf = (signal: AbortSignal): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const abort = (): void => resume(Effect.void);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    return Effect.sync(() => signal.removeEventListener("abort", abort));
  });
