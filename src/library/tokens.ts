/** `runtime.tokens`: names for callers of the daemon of this state directory. */
import type { MadeToken, TokenChange, TokensReply } from "../protocol/replies/tokens.ts";
import type { TokensApi } from "../runtime/tokens-api.ts";
import { checked } from "./checked.ts";
import type { TokenOptions } from "./options.ts";
import type { RunCall } from "./promises.ts";
import { createTokenAs } from "./tokens-calls.ts";

/** Each method rejects with a HoldfastError and nothing else. */
export class RuntimeTokens {
  readonly #api: TokensApi;
  readonly #call: RunCall;

  /** @internal */
  constructor(api: TokensApi, call: RunCall) {
    this.#api = api;
    this.#call = call;
  }

  /** A client that presents the secret in `meta.token` is `user:<name>` in records. Rejects with ALREADY_EXISTS if a living token has the name. */
  create(options: TokenOptions): Promise<MadeToken> {
    return this.#call(() => createTokenAs(this.#api, options));
  }

  /** By name. An expired one is there until another token is made. */
  list(): Promise<TokensReply> {
    return this.#call(() => this.#api.list());
  }

  /** Rejects with TOKEN_NOT_FOUND if there is none. */
  revoke(name: string): Promise<TokenChange> {
    return this.#call(() => this.#api.revoke(checked("token/revoke", { name }).name));
  }
}
