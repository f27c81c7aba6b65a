/**
 * Requests with an idempotency key that are more than a single record of the log (kill, restart, pause, a
 * tree): each is carried out once, and a repeat gets the first answer with effect noop. The newest
 * IDEMPOTENCY_KEYS_MAX answers are kept while the daemon lives. The keys of spawn, send and ask are in the
 * log.
 */
import { Deferred, Effect, Exit } from "effect";
import { IDEMPOTENCY_KEYS_MAX } from "../base/limits.ts";
import { canonicalDigest } from "../protocol/canonical-json.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { keyReused } from "../runtime/idempotency.ts";

type RequestOutcome = Outcome<object>;

interface FirstRequest {
  /** The digest of the request. */
  readonly what: string;
  readonly answer: Deferred.Deferred<RequestOutcome, HoldfastError>;
}

export class Once {
  private readonly kept = new Map<string, FirstRequest>();

  /** `asked`: the command and its data without the key. */
  run<A extends RequestOutcome>(
    key: string | undefined,
    asked: object,
    effect: Effect.Effect<A, HoldfastError>,
  ): Effect.Effect<A, HoldfastError> {
    if (key === undefined) return effect;
    return Effect.suspend(() => {
      const what = canonicalDigest(asked);
      const first = this.kept.get(key);
      if (first === undefined) return this.begin(key, what, effect);
      if (first.what !== what) return Effect.fail(keyReused(key));
      return Effect.map(Deferred.await(first.answer), repeated) as Effect.Effect<A, HoldfastError>;
    });
  }

  private begin<A extends RequestOutcome>(
    key: string,
    what: string,
    effect: Effect.Effect<A, HoldfastError>,
  ) {
    const answer = Deferred.makeUnsafe<RequestOutcome, HoldfastError>();
    this.kept.set(key, { what, answer });
    const [oldest] = this.kept.keys();
    if (this.kept.size > IDEMPOTENCY_KEYS_MAX) this.kept.delete(oldest as string);
    return Effect.onExit(effect, (exit) => {
      // A failed request had no effect, so it may be tried again with the same key.
      if (Exit.isFailure(exit)) this.kept.delete(key);
      return Deferred.done(answer, exit as Exit.Exit<RequestOutcome, HoldfastError>);
    });
  }
}

/** The first answer, marked as noop because nothing was done this time. */
const repeated = (first: RequestOutcome): RequestOutcome => {
  const value = first.value as { readonly results?: readonly object[] } | undefined;
  if (value === undefined) return first;
  const results = value.results?.map((result) => ({ ...result, effect: "noop" }));
  return { ...first, value: { ...value, ...(results && { results }), effect: "noop" } } as RequestOutcome;
};
