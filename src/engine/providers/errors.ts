/**
 * Every failure of a provider as one ModelError: its kind says what the engine can do about it, its sentence is that of the
 * error catalogue for all kinds of agents. The library's own error is left behind, because it holds the prompt and its
 * headers. Pure.
 */
import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { PROVIDER_RETRY_AFTER_MAX_MS } from "../../base/limits.ts";
import { classifyStatus, PROVIDER_ERRORS, type ProviderErrorName } from "../../protocol/provider-errors.ts";
import { ModelError, type ModelErrorKind } from "../model.ts";
import { SilenceError, TooMuchError } from "../wire.ts";

/** The kind by the error type or code that a provider names. */
const KIND_OF_NAME: Readonly<Partial<Record<ProviderErrorName, ModelErrorKind>>> = {
  authentication_error: "auth",
  token_expired: "auth",
  permission_error: "auth",
  billing_error: "invalid_request",
  insufficient_quota: "rate_limited",
  rate_limit_error: "rate_limited",
  rate_limit_exceeded: "rate_limited",
  overloaded_error: "overloaded",
  server_error: "overloaded",
  api_error: "overloaded",
  timeout_error: "overloaded",
  invalid_request_error: "invalid_request",
  not_found_error: "no_such_model",
  model_not_found: "no_such_model",
  context_length_exceeded: "context_overflow",
  request_too_large: "context_overflow",
};

const kindOfStatus = (status: number): ModelErrorKind => {
  switch (status) {
    case 401:
    case 403:
      return "auth";
    case 404:
      return "no_such_model";
    case 413:
      return "context_overflow";
    case 429:
      return "rate_limited";
  }
  return status === 408 || status >= 500 ? "overloaded" : "invalid_request";
};

/** Names that say more than the status with which they come. */
const TELLING: ReadonlySet<string> = new Set<ProviderErrorName>([
  "insufficient_quota",
  "context_length_exceeded",
  "model_not_found",
  "token_expired",
]);

/** Anthropic and some servers tell an overflow only in words. The words are never passed on. */
const OVERFLOW =
  /\bprompt is too long\b|\bmaximum context length\b|\bexceeds? the (?:available |model'?s )?context\b|\bcontext (?:window|length) (?:is )?exceeded\b/i;

interface ProviderComplaint {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly names: readonly unknown[];
  readonly text: string;
}

/** `now_ms` is the time by the wall, for a retry-after that names a date. */
export const modelErrorOf = (error: unknown, now_ms: number): ModelError => {
  if (error instanceof ModelError) return error;
  const reason = causes(error);
  if (reason.some((one) => one instanceof TooMuchError))
    return new ModelError("bad_answer", "The provider sent more bytes than an answer may have.");
  if (reason.some((one) => one instanceof SilenceError)) return named("timeout_error", "unreachable");
  if (APICallError.isInstance(error)) return ofCall(error, now_ms);
  if (reason.some((one) => JSONParseError.isInstance(one) || TypeValidationError.isInstance(one)))
    return new ModelError("bad_answer", NO_ANSWER);
  // The stream ended without its last event.
  if (InvalidResponseDataError.isInstance(error) && error.data === undefined) return cutOff();
  if (EmptyResponseBodyError.isInstance(error)) return named("empty_answer", "bad_answer");
  const told = asObject(error);
  if (told !== undefined && !(error instanceof Error)) return ofTold(inStream(told), now_ms);
  return new ModelError("bad_answer", NO_ANSWER);
};

const NO_ANSWER = "The provider sent something that is no answer of a model.";

/** A line that ends before the answer does. */
export const cutOff = (): ModelError => named("connection_cut", "reset");

const named = (name: ProviderErrorName, kind: ModelErrorKind): ModelError =>
  new ModelError(kind, PROVIDER_ERRORS[name].message);

const CAUSES_MAX = 8;
const causes = (error: unknown): readonly unknown[] => {
  const found: unknown[] = [];
  for (let at = error; at instanceof Error && found.length < CAUSES_MAX; at = at.cause) found.push(at);
  return found;
};

const ofCall = (error: APICallError, now_ms: number): ModelError => {
  const { statusCode: status, responseHeaders: headers, responseBody = "" } = error;
  if (status === undefined) return named("connection_failed", "unreachable");
  if (status >= 300 && status < 400)
    return new ModelError(
      "invalid_request",
      `The provider's address answers with a redirect (HTTP ${status}), which is not followed.`,
      { status },
    );
  // The status of an answer that began well and broke off.
  if (status < 300 && asObject(error.data) === undefined)
    return isNoAnswer(error) ? new ModelError("bad_answer", NO_ANSWER, { status }) : cutOff();
  const body = asObject(parsed(responseBody)) ?? asObject(error.data) ?? {};
  return ofTold({ ...inStream(body), status, headers }, now_ms);
};

const isNoAnswer = (error: APICallError): boolean =>
  causes(error).some((one) => JSONParseError.isInstance(one) || TypeValidationError.isInstance(one));

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `{type, code, message}`, alone or below `error`, or as the library wraps it. */
const inStream = (told: JsonObject): ProviderComplaint => {
  const inner = asObject(told.error) ?? asObject(asObject(told.data)?.error) ?? told;
  return {
    names: [inner.code, inner.type],
    text: asString(inner.message) ?? "",
  };
};

const ofTold = ({ status, headers = {}, names, text }: ProviderComplaint, now_ms: number): ModelError => {
  const name = names.find(
    (one): one is ProviderErrorName => typeof one === "string" && Object.hasOwn(KIND_OF_NAME, one),
  );
  const isOverflow = OVERFLOW.test(text) && (status === undefined || status === 400 || status === 413);
  const telling = isOverflow ? "context_length_exceeded" : name;
  const retry_after_ms = retryAfter(headers, now_ms);
  const facts = {
    ...(status !== undefined && { status }),
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  };
  const error = status === undefined ? undefined : classifyStatus(status);
  if (telling !== undefined && (error === undefined || TELLING.has(telling)))
    return new ModelError(KIND_OF_NAME[telling]!, PROVIDER_ERRORS[telling].message, facts);
  return status === undefined || error === undefined
    ? new ModelError("overloaded", PROVIDER_ERRORS.server_error.message, facts)
    : new ModelError(kindOfStatus(status), error.message, facts);
};

/** `retry-after-ms`, or `retry-after` in seconds or as a date; undefined if neither makes sense. */
const retryAfter = (headers: Readonly<Record<string, string>>, now_ms: number): number | undefined => {
  const exact = /^\d+(?:\.\d+)?$/.exec(headers["retry-after-ms"] ?? "")?.[0];
  const given = headers["retry-after"] ?? "";
  const seconds = /^\d+(?:\.\d+)?$/.exec(given)?.[0];
  const wait =
    exact !== undefined
      ? Number(exact)
      : seconds !== undefined
        ? Number(seconds) * 1_000
        : Date.parse(given) - now_ms;
  return Number.isFinite(wait)
    ? Math.min(Math.max(0, Math.ceil(wait)), PROVIDER_RETRY_AFTER_MAX_MS)
    : undefined;
};
