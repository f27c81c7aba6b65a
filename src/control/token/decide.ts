/** Decides about tokens with names: a name is unique among the living ones. Pure. */
import { TOKENS_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { isExpired, type Token } from "../../protocol/token.ts";
import { tokenStream } from "../../protocol/token-records.ts";

export interface AskedToken {
  readonly name: string;
  readonly sha256: string;
  readonly expires_ms?: number | undefined;
}

interface Making {
  readonly token_id: string;
  readonly by: string;
  readonly wall_ms: number;
}

const isoOf = (at_ms: number): string => new Date(at_ms).toISOString();

const about = ({ name, token_id }: Pick<Token, "name" | "token_id">) => ({
  stream: tokenStream(name),
  correlation_id: token_id,
});

/** Nothing if the same token is there already. Tokens that have expired leave the list. */
export const decideCreate = (
  there: readonly Token[],
  { name, sha256, expires_ms }: AskedToken,
  { token_id, by, wall_ms }: Making,
): readonly RecordDraft[] | HoldfastError => {
  const at = isoOf(wall_ms);
  const living = there.filter((token) => !isExpired(token, wall_ms));
  const named = living.find((token) => token.name === name);
  if (named?.sha256 === sha256) return [];
  if (named !== undefined)
    return new HoldfastError("ALREADY_EXISTS", `A token "${name}" is there already.`, {
      suggestion: `Revoke it first: agent token revoke ${name}`,
    });
  if (living.length >= TOKENS_MAX)
    return new HoldfastError("QUEUE_FULL", `There are ${TOKENS_MAX} tokens already.`, {
      suggestion: "Revoke those that nobody uses: agent token list",
    });
  const expired = there
    .filter((token) => isExpired(token, wall_ms))
    .map((token): RecordDraft => {
      return { ...about(token), type: "token_expired", payload: { token_id: token.token_id, at } };
    });
  const expires_at = expires_ms === undefined ? null : isoOf(wall_ms + expires_ms);
  const payload = { token_id, sha256, expires_at, by, at };
  return [...expired, { ...about({ name, token_id }), type: "token_created", payload }];
};

export const decideRevoke = (token: Token, by: string, wall_ms: number): RecordDraft => ({
  ...about(token),
  type: "token_revoked",
  payload: { token_id: token.token_id, by, at: isoOf(wall_ms) },
});

export const noToken = (name: string): HoldfastError =>
  new HoldfastError("TOKEN_NOT_FOUND", `There is no token "${name}".`);
