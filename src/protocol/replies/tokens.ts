/** The answers of tokens with names. */
import * as z from "zod";
import { id, type Reply, time } from "./reply.ts";

export const TokenView = z.object({
  name: z.string(),
  token_id: id,
  by: z.string().describe("the caller that made it"),
  created_at: time,
  expires_at: time.nullable().describe("null: it holds until it is revoked"),
  expired: z.boolean(),
});
export type TokenView = Reply<typeof TokenView>;

export interface TokensReply {
  readonly tokens: readonly TokenView[];
}

export const TokenChange = TokenView.extend({ effect: z.enum(["created", "deleted", "noop"]) });
export type TokenChange = Reply<typeof TokenChange>;

/** A new token, and its secret, which is kept nowhere else. */
export interface MadeToken extends TokenChange {
  readonly secret: string;
}
