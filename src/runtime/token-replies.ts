/** The answers of tokens with names, without Effect, as in `replies.ts`. */

export interface TokenView {
  readonly name: string;
  readonly token_id: string;
  /** The caller that made it. */
  readonly by: string;
  readonly created_at: string;
  /** Null: it holds until it is revoked. */
  readonly expires_at: string | null;
  readonly expired: boolean;
}

export interface TokensReply {
  readonly tokens: readonly TokenView[];
}

export interface TokenChange extends TokenView {
  readonly effect: "created" | "deleted" | "noop";
}

/** A new token, and its secret, which is kept nowhere else. */
export interface MadeToken extends TokenChange {
  readonly secret: string;
}
