/** The requests of tokens with names, as zod schemas. */
import * as z from "zod";
import { DURATION_MAX_MS, NAME_MAX_BYTES, TOKEN_EXPIRES_MIN_MS } from "../base/limits.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { NAME_FORM } from "./spec-fields.ts";

const TokenName = z
  .string()
  .max(NAME_MAX_BYTES, `may have at most ${NAME_MAX_BYTES} characters`)
  .regex(NAME_FORM, "has letters, digits, '.', '_' and '-', and starts with a letter or digit")
  .refine(isTellable, NOT_TELLABLE);

export const TOKEN_REQUESTS = {
  /** The client makes the secret and keeps it: the daemon sees its SHA-256 alone. The same request again is a noop. */
  "token/create": z.strictObject({
    name: TokenName,
    sha256: z.string().regex(/^[0-9a-f]{64}$/, "it is the SHA-256 of the secret, in 64 hexadecimal digits"),
    /** From now on. Default: until it is revoked. */
    expires_ms: z.int().min(TOKEN_EXPIRES_MIN_MS).max(DURATION_MAX_MS).optional(),
  }),
  /** All of them, by name. */
  "token/list": z.strictObject({}),
  /** Its connections are refused from the next request on. */
  "token/revoke": z.strictObject({ name: TokenName }),
} as const;
