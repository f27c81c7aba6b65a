/** The trees that are being taken down, here and on the cluster: a file of one is brought up after that, and not beside it. */
import { Effect } from "effect";
import type { RuntimeApi } from "../../runtime/api.ts";

class TakeDowns {
  private readonly open = new Map<string, Set<Promise<void>>>();

  during<Reply, Failure>(tree: string, down: Effect.Effect<Reply, Failure>): Effect.Effect<Reply, Failure> {
    return Effect.suspend(() => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const downs = this.open.get(tree) ?? new Set();
      this.open.set(tree, downs.add(promise));
      const over = Effect.sync(() => {
        downs.delete(promise);
        if (downs.size === 0) this.open.delete(tree);
        resolve();
      });
      return Effect.ensuring(down, over);
    });
  }

  /** Another one may begin meanwhile. */
  after<Reply, Failure>(tree: string, up: Effect.Effect<Reply, Failure>): Effect.Effect<Reply, Failure> {
    return Effect.suspend(() => {
      const downs = this.open.get(tree);
      if (downs === undefined) return up;
      return Effect.andThen(
        Effect.promise(() => Promise.all(downs)),
        this.after(tree, up),
      );
    });
  }
}

const ofRuntime = new WeakMap<RuntimeApi, TakeDowns>();

/** Those of a daemon, by its runtime. */
export const takeDowns = (runtime: RuntimeApi): TakeDowns => {
  const known = ofRuntime.get(runtime) ?? new TakeDowns();
  ofRuntime.set(runtime, known);
  return known;
};
