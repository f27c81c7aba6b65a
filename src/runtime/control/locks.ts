/** One decision at a time about each of many things: those that come meanwhile wait for their turn, in their order. */
import { Effect, Semaphore } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";

export class Locks {
  /** The lock of each thing that is being decided about, with how many wait for it. */
  private readonly locks = new Map<string, { readonly lock: Semaphore.Semaphore; waiting: number }>();

  get size(): number {
    return this.locks.size;
  }

  has(id: string): boolean {
    return this.locks.has(id);
  }

  /** A decision that has begun is carried through, also if its caller goes away meanwhile. */
  alone<A>(id: string, work: Effect.Effect<A, HoldfastError>): Effect.Effect<A, HoldfastError> {
    return Effect.suspend(() => {
      const turn = this.locks.get(id) ?? { lock: Semaphore.makeUnsafe(1), waiting: 0 };
      this.locks.set(id, turn);
      turn.waiting += 1;
      const left = Effect.sync(() => {
        turn.waiting -= 1;
        if (turn.waiting === 0) this.locks.delete(id);
      });
      return Effect.ensuring(turn.lock.withPermits(1)(Effect.uninterruptible(work)), left);
    });
  }
}
