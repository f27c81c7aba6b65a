/** Tokens with names, as records tell them: the digest of a secret, and never the secret. */

interface TokenCreated {
  readonly token_id: string;
  /** The SHA-256 of the secret, in hexadecimal digits. */
  readonly sha256: string;
  /** Null: it holds until it is revoked. */
  readonly expires_at: string | null;
  readonly by: string;
  readonly at: string;
}

interface TokenRevoked {
  readonly token_id: string;
  readonly by: string;
  readonly at: string;
}

interface TokenExpired {
  readonly token_id: string;
  readonly at: string;
}

/** The payloads of records about tokens, by their types: part of `RecordPayloads`. */
export interface TokenRecords {
  /** A caller that presents the secret is `user:<name>` from now on; the stream has the name. */
  token_created: TokenCreated;
  /** Nobody is this principal any more, and its name is free. */
  token_revoked: TokenRevoked;
  /** It was over already, and is taken out of the list. */
  token_expired: TokenExpired;
}

const TOKEN_STREAM = "token:";
export const tokenStream = (name: string): string => `${TOKEN_STREAM}${name}`;
/** The inverse of `tokenStream`; undefined for a stream of something else. */
export const tokenNameOf = (stream: string): string | undefined =>
  stream.startsWith(TOKEN_STREAM) ? stream.slice(TOKEN_STREAM.length) : undefined;
