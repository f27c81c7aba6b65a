/** The watches of a promise door: streams as async iterables, which end with the runtime. */
import { Deferred, Effect, Stream } from "effect";
import { WATCHES_DRAIN_MAX_MS } from "../base/limits.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import { closed } from "./promises.ts";

export class Watches {
  /** Readers that wait for something now. */
  readonly #waiting = new Set<Promise<unknown>>();
  /** Done once nothing is supervised any more: a watch that still waits ends. */
  readonly #stopped = Deferred.makeUnsafe<void>();
  #isClosing = false;

  get isStopped(): boolean {
    return Deferred.isDoneUnsafe(this.#stopped);
  }

  /** From now on a watch that can read no more ends, and does not fail. */
  closing(): void {
    this.#isClosing = true;
  }

  iterable<A>(items: Stream.Stream<A, HoldfastError>): AsyncIterable<A> {
    const untilClosed = Stream.catch(items, (error) => (this.#isClosing ? Stream.empty : Stream.fail(error)));
    const open = Stream.interruptWhen(untilClosed, Deferred.await(this.#stopped));
    const all = Stream.toAsyncIterable(Stream.suspend(() => (this.isStopped ? Stream.fail(closed()) : open)));
    return { [Symbol.asyncIterator]: () => this.#counted(all[Symbol.asyncIterator]()) };
  }

  /** Lets each reader that waits have what is recorded, and then its end. A reader that is busy elsewhere is not waited for. */
  async drain(): Promise<void> {
    const { promise: tooLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, WATCHES_DRAIN_MAX_MS);
    let isOver = false;
    void tooLate.then(() => {
      isOver = true;
    });
    while (this.#waiting.size > 0 && !isOver) {
      await Promise.race([Promise.allSettled(this.#waiting), tooLate]);
      // Its reader asks for the next one in this turn of the loop, or is busy.
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
