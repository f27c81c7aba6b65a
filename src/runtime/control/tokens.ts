/** Tokens with names over the log: the rows are the state, and only digests of secrets are kept. */
import { Effect, Semaphore } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { decideCreate, decideRevoke, noToken } from "../../control/token/decide.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { TokenChange, TokenView } from "../../protocol/replies/tokens.ts";
import { isExpired, isTokenSecret, type Token, tokenDigest } from "../../protocol/token.ts";
import type { CallerOptions } from "../api.ts";
import { askerOfAll } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import type { TokensApi } from "../tokens-api.ts";

export class Tokens implements TokensApi {
  private readonly core: Core;
  /** One change at a time, so that two tokens cannot take one name. */
  private readonly alone = Semaphore.makeUnsafe(1);

  /** The tokens by the digest of their secret; undefined until somebody presents one, and after each change. */
  private kept: ReadonlyMap<string, Token> | undefined;

  constructor(core: Core) {
    this.core = core;
  }

  readonly create: TokensApi["create"] = (asked, options = {}) =>
    this.changing(options, "make a token", (by) =>
      Effect.gen({ self: this }, function* () {
        const there = yield* this.all;
        const making = { token_id: newId(this.core.wallMs()), by, wall_ms: this.core.wallMs() };
        const decided = decideCreate(there, asked, making);
        if (decided instanceof HoldfastError) return yield* Effect.fail(decided);
        if (decided.length > 0) yield* this.core.commit(decided);
        const token = yield* this.named(asked.name);
        return { ...this.viewOf(token), effect: decided.length > 0 ? "created" : "noop" } as TokenChange;
      }),
    );

  readonly list: TokensApi["list"] = () =>
    Effect.map(
      Effect.suspend(() => this.all),
      (tokens) => ({ tokens: tokens.map((token) => this.viewOf(token)) }),
    );

  readonly revoke: TokensApi["revoke"] = (name, options = {}) =>
    this.changing(options, "revoke a token", (by) =>
      Effect.gen({ self: this }, function* () {
        const token = yield* this.named(name);
        yield* this.core.commit([decideRevoke(token, by, this.core.wallMs())]);
        return { ...this.viewOf(token), effect: "deleted" as const };
      }),
    );

  /** The name of the living token with this secret. Nothing of a secret can be learned from how long its digest is looked for. */
  readonly principalOf = (secret: string): string | undefined => {
    if (!isTokenSecret(secret)) return undefined;
    this.kept ??= new Map(this.core.services.views.tokens().map((token) => [token.sha256, token]));
    const token = this.kept.get(tokenDigest(secret));
    return token === undefined || isExpired(token, this.core.wallMs()) ? undefined : token.name;
  };

  private readonly all: Effect.Effect<readonly Token[], HoldfastError> = attempt(() =>
    this.core.services.views.tokens(),
  );

  private changing<A>(
    options: CallerOptions,
    what: string,
    change: (by: string) => Effect.Effect<A, HoldfastError>,
  ): Effect.Effect<A, HoldfastError> {
    return Effect.flatMap(askerOfAll(this.core.authority, options, what), (by) =>
      this.alone.withPermits(1)(
        Effect.uninterruptible(
          Effect.ensuring(
            change(by),
            Effect.sync(() => {
              this.kept = undefined;
            }),
          ),
        ),
      ),
    );
  }

  private named(name: string): Effect.Effect<Token, HoldfastError> {
    return Effect.flatMap(this.all, (tokens) => {
      const token = tokens.find((one) => one.name === name);
      return token === undefined ? Effect.fail(noToken(name)) : Effect.succeed(token);
    });
  }

  private viewOf(token: Token): TokenView {
    const { name, token_id, by, created_at, expires_at } = token;
    return { name, token_id, by, created_at, expires_at, expired: isExpired(token, this.core.wallMs()) };
  }
}
