/** Tokens for both doors. The promise door loads it, and its types name nothing of it. */
import { Effect } from "effect";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { MadeToken } from "../protocol/replies/tokens.ts";
import { newTokenSecret, tokenDigest } from "../protocol/token.ts";
import type { TokensApi } from "../runtime/tokens-api.ts";
import { checked } from "./checked.ts";
import type { TokenOptions } from "./options.ts";

/** `tokens.create` of both doors: the secret is made in this process. */
export const createTokenAs = (
  api: TokensApi,
  options: TokenOptions,
): Effect.Effect<MadeToken, HoldfastError> =>
  Effect.suspend(() => {
    const secret = newTokenSecret();
    return Effect.flatMap(
      Effect.try({
        try: () => checked("token/create", { ...options, sha256: tokenDigest(secret) }),
        catch: asHoldfastError,
      }),
      (asked) => Effect.map(api.create(asked), (made) => ({ ...made, secret })),
    );
  });
