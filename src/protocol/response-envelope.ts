/**
 * The ResponseEnvelope (response-envelope.txt), generation G1 with its exit codes (notes B.1, B.2): what a command prints as JSON. One
 * factory makes it from an outcome; `ok` is derived from the exit code and from nothing else.
 */
import type { ErrorDetail, ResponseEnvelope, ResponseMeta } from "./envelope-schemas.ts";
import { HoldfastError } from "./errors.ts";
import type { Outcome } from "./outcome.ts";
import { redactText } from "./redact.ts";

export type { ErrorDetail, ResponseEnvelope, ResponseMeta };

const RESPONSE_SCHEMA_VERSION = "1.0";
const ARG_ERROR = 3;

export interface ResponseOptions {
  readonly duration_ms: number;
  readonly request_id?: string;
  /** The process's exit code, where it is not the outcome's own: a child's (`wait --exit-code-from`), or 143. */
  readonly exitCode?: number;
  /** More of `meta`: truncated, cursor, not_modified. */
  readonly meta?: Omit<Partial<ResponseMeta>, "duration_ms" | "request_id">;
}

export const exitCodeOf = (outcome: Outcome<unknown>): number => (outcome.ok ? 0 : outcome.error.row.exit);

/**
 * The envelope and the exit code that belongs to it. An exit code that contradicts the outcome (0 for a failure, or the other
 * way round) is a defect and throws INTERNAL.
 */
export const toResponseEnvelope = (
  outcome: Outcome<unknown>,
  options: ResponseOptions,
): { envelope: ResponseEnvelope; exitCode: number } => {
  const exitCode = options.exitCode ?? exitCodeOf(outcome);
  const ok = exitCode === 0;
  if (ok !== outcome.ok)
    throw new HoldfastError(
      "INTERNAL",
      `Exit code ${exitCode} was to be given to a ${outcome.ok ? "success" : "failure"}.`,
    );
  const envelope: ResponseEnvelope = {
    ok,
    data: outcome.ok && !options.meta?.not_modified ? dataOf(outcome.value) : null,
    error: outcome.ok ? null : errorDetail(outcome.error, outcome.value),
    warnings: [...(outcome.warnings ?? [])],
    meta: {
      duration_ms: Math.max(0, Math.round(options.duration_ms)),
      ...(options.request_id !== undefined && { request_id: options.request_id }),
      schema_version: RESPONSE_SCHEMA_VERSION,
      ...options.meta,
    },
  };
  return { envelope, exitCode };
};

/** `data` is an object or an array; no value at all is an empty object, since null would mean failure. */
const dataOf = (value: unknown): NonNullable<ResponseEnvelope["data"]> => {
  if (value === null || value === undefined) return {};
  return typeof value === "object" ? (value as Record<string, unknown> | unknown[]) : { value };
};

const errorDetail = (error: HoldfastError, value: unknown): ErrorDetail => {
  const { info, row } = error;
  const detail = detailOf(error, value);
  // Exit code 3 guarantees that nothing was done (notes B.2), which is what the phase says.
  const phase = info.phase ?? (row.exit === ARG_ERROR ? "validation" : undefined);
  return {
    code: error.code,
    message: redactText(error.message),
    ...(detail !== undefined && { detail: redactText(detail) }),
    retryable: row.retryable,
    ...(row.retryable &&
      info.retry_after_s !== undefined && { retry_after: Math.max(0, Math.ceil(info.retry_after_s)) }),
    ...(phase !== undefined && { phase }),
    suggestion: redactText(error.suggestion),
  };
};

/** JSON text of what a closed ErrorDetail has no member for: the value of a partial failure, else all problems and the error's facts. */
const detailOf = ({ info }: HoldfastError, value: unknown): string | undefined => {
  if (value !== undefined) return JSON.stringify(value);
  const facts = { ...(info.problems !== undefined && { problems: info.problems }), ...info.details };
  return Object.keys(facts).length === 0 ? undefined : JSON.stringify(facts);
};
