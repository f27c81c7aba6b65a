/** The watches of a promise door: streams of records as async iterables, which end with the runtime. */
import { Deferred, Effect, Stream } from "effect";
import { WATCHES_DRAIN_MAX_MS } from "../base/limits.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import { closed } from "./promises.ts";

export class Watches {
  /** Readers that wait for a record now. */
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

  iterable(records: Stream.Stream<LogRecord, HoldfastError>): AsyncIterable<LogRecord> {
    const untilClosed = Stream.catch(records, (error) =>
      this.#isClosing ? Stream.empty : Stream.fail(error),
    );
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

  #counted(records: AsyncIterator<LogRecord>): AsyncIterator<LogRecord> {
    const next = (): Promise<IteratorResult<LogRecord>> => {
      const asked = records.next();
      this.#waiting.add(asked);
      const answered = (): void => void this.#waiting.delete(asked);
      asked.then(answered, answered);
      return asked;
    };
    return { next, return: async () => (await records.return?.()) ?? { done: true, value: undefined } };
  }
}
