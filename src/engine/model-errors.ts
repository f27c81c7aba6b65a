/** The failure of a model as an error of a turn. */
import type { ErrorCode } from "../protocol/errors.ts";
import type { ModelFailure } from "./conversation.ts";
import type { TurnError } from "./entries.ts";
import type { ModelErrorKind } from "./model.ts";

const CODES: Readonly<Record<ModelErrorKind, ErrorCode>> = {
  auth: "TOKEN_INVALID",
  rate_limited: "RATE_LIMITED",
  overloaded: "PROVIDER_ERROR",
  context_overflow: "PROVIDER_BAD_REQUEST",
  refused: "REFUSED",
  bad_answer: "PROVIDER_ERROR",
  reset: "PROVIDER_ERROR",
  unreachable: "PROVIDER_ERROR",
  no_such_model: "PROVIDER_BAD_REQUEST",
  invalid_request: "PROVIDER_BAD_REQUEST",
};
const MS_PER_S = 1_000;

export const errorOfFailure = ({ kind, message, status, retry_after_ms }: ModelFailure): TurnError => {
  // Without an answer of the provider, the key was never sent.
  const code = kind === "auth" && status === undefined ? "TOKEN_MISSING" : CODES[kind];
  return kind === "rate_limited" && retry_after_ms !== undefined
    ? { code, message, retry_after_s: Math.ceil(retry_after_ms / MS_PER_S) }
    : { code, message };
};
