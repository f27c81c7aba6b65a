/** Tokens with names as their users see them: part of `RuntimeApi`. Every change is durable before the call returns. */
import type { Effect } from "effect";
import type { Caller } from "../protocol/caller.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { TokenChange, TokensReply } from "../protocol/replies/tokens.ts";
import type { RequestData } from "../protocol/requests.ts";

/** The caller of a request, as in `CallerOptions`. */
export interface TokenAsker {
  readonly caller?: Caller | undefined;
  readonly by?: string | undefined;
}

export interface TokensApi {
  /** Makes a token of a secret's digest. Fails with ALREADY_EXISTS if a living token has the name, with QUEUE_FULL at the bound. */
  create(asked: RequestData<"token/create">, options?: TokenAsker): Effect.Effect<TokenChange, HoldfastError>;
  /** All tokens by name; an expired one until another token is made. */
  list(): Effect.Effect<TokensReply, HoldfastError>;
  /** Fails with TOKEN_NOT_FOUND if there is none. */
  revoke(name: string, options?: TokenAsker): Effect.Effect<TokenChange, HoldfastError>;
}
