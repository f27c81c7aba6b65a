/**
 * Errors of a model's provider: one row of the error catalogue, and a sentence of ours, whoever met the error: the CLI of an
 * agent, or the engine itself. A provider's own text is never passed on, because it may hold keys, paths and prompts. Pure.
 */
import type { WorkerError } from "./completion.ts";
import type { ErrorCode } from "./errors.ts";

export const providerFault = (code: ErrorCode, message: string): WorkerError => ({ code, message });

/** The error for an HTTP status of the provider. */
export const classifyStatus = (status: number): WorkerError | undefined => {
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined;
  const http = `(HTTP ${status})`;
  switch (status) {
    case 401:
      return providerFault("TOKEN_INVALID", `The provider refused the credentials ${http}.`);
    case 403:
      return providerFault(
        "TOKEN_INVALID",
        `The provider does not allow this with these credentials ${http}.`,
      );
    case 402:
      return providerFault(
        "PROVIDER_BAD_REQUEST",
        `The provider wants the account to be paid first ${http}.`,
      );
    case 404:
      return providerFault(
        "PROVIDER_BAD_REQUEST",
        `The provider does not know the model or the address ${http}.`,
      );
    case 413:
      return providerFault("PROVIDER_BAD_REQUEST", `The request was too large for the provider ${http}.`);
    case 429:
      return providerFault("RATE_LIMITED", `The provider's rate limit was reached ${http}.`);
    case 529:
      return providerFault("PROVIDER_ERROR", `The provider is overloaded ${http}.`);
  }
  return status === 408 || status >= 500
    ? providerFault("PROVIDER_ERROR", `The provider failed ${http}.`)
    : providerFault("PROVIDER_BAD_REQUEST", `The provider rejected the request ${http}.`);
};

const TOO_LONG_AN_ANSWER = providerFault(
  "OUTPUT_TOO_LARGE",
  "The answer reached the model's output limit before it was complete.",
);
const OVERLOADED = providerFault("PROVIDER_ERROR", "The provider is overloaded.");
const RATE_LIMIT = providerFault("RATE_LIMITED", "The provider's rate limit was reached.");
const REJECTED = providerFault("PROVIDER_BAD_REQUEST", "The provider rejected the request.");

/** By the error types and stop reasons of providers. */
export const PROVIDER_ERRORS = {
  authentication_error: providerFault("TOKEN_INVALID", "The provider refused the credentials."),
  token_expired: providerFault("TOKEN_EXPIRED", "The credentials have expired."),
  permission_error: providerFault(
    "TOKEN_INVALID",
    "The provider does not allow this with these credentials.",
  ),
  billing_error: providerFault("PROVIDER_BAD_REQUEST", "The provider wants the account to be paid first."),
  insufficient_quota: providerFault("RATE_LIMITED", "The account's quota at the provider is used up."),
  rate_limit: RATE_LIMIT,
  rate_limit_error: RATE_LIMIT,
  rate_limit_exceeded: RATE_LIMIT,
  overloaded: OVERLOADED,
  overloaded_error: OVERLOADED,
  server_error: providerFault("PROVIDER_ERROR", "The provider failed or did not answer."),
  api_error: providerFault("PROVIDER_ERROR", "The provider failed."),
  timeout_error: providerFault("PROVIDER_ERROR", "The provider did not answer in time."),
  connection_failed: providerFault("PROVIDER_ERROR", "The provider could not be reached."),
  connection_cut: providerFault("PROVIDER_ERROR", "The connection to the provider was cut."),
  empty_answer: providerFault("PROVIDER_ERROR", "The provider's answer was empty or cut off."),
  invalid_request: REJECTED,
  invalid_request_error: REJECTED,
  not_found_error: providerFault(
    "PROVIDER_BAD_REQUEST",
    "The provider does not know the model or the address.",
  ),
  model_not_found: providerFault("PROVIDER_BAD_REQUEST", "The provider does not know the model."),
  context_length_exceeded: providerFault(
    "PROVIDER_BAD_REQUEST",
    "The conversation is longer than the model can read.",
  ),
  request_too_large: providerFault("PROVIDER_BAD_REQUEST", "The request was too large for the provider."),
  max_output_tokens: TOO_LONG_AN_ANSWER,
  max_tokens: TOO_LONG_AN_ANSWER,
  refusal: providerFault("REFUSED", "The model refused to answer."),
} as const satisfies Readonly<Record<string, WorkerError>>;
export type ProviderErrorName = keyof typeof PROVIDER_ERRORS;
