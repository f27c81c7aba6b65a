/** A token with a name: its state, folded from its records, and the form of its secret. Pure, but for the random bytes. */
import { TOKEN_SECRET_BYTES } from "../base/limits.ts";
import type { LogRecord } from "./records.ts";
import { tokenNameOf } from "./token-records.ts";

export interface Token {
  readonly name: string;
  readonly token_id: string;
  readonly sha256: string;
  readonly expires_at: string | null;
  readonly by: string;
  readonly created_at: string;
}

type TokenRecord = Extract<LogRecord, { type: "token_created" | "token_revoked" | "token_expired" }>;

export const isOfToken = (record: LogRecord): record is TokenRecord => record.type.startsWith("token_");

/** The token of a stream after one of its records; undefined if it is gone. */
export const foldToken = (record: TokenRecord): Token | undefined => {
  if (record.type !== "token_created") return undefined;
  const { token_id, sha256, expires_at, by, at } = record.payload;
  return { name: tokenNameOf(record.stream) ?? "", token_id, sha256, expires_at, by, created_at: at };
};

export const isExpired = ({ expires_at }: Pick<Token, "expires_at">, now_ms: number): boolean =>
  expires_at !== null && Date.parse(expires_at) <= now_ms;

/** Distinguishes a secret from others, so that it is masked wherever it is printed. */
const SECRET_BEGINS = "hft_";

// A client loads this file at each start, and needs no cryptography for most commands.
const crypto = () => process.getBuiltinModule("node:crypto");

export const newTokenSecret = (): string =>
  SECRET_BEGINS + crypto().randomBytes(TOKEN_SECRET_BYTES).toString("hex");

export const isTokenSecret = (text: string): boolean => /^hft_[0-9a-f]{64}$/.test(text);

export const tokenDigest = (secret: string): string => crypto().hash("sha256", secret, "hex");
