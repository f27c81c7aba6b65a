/**
 * The ResponseEnvelope (response-envelope.txt), which a command prints as JSON; generation G1 unless another is asked for
 * (notes B.1, B.2). One factory makes it from an outcome. `ok` is derived from the exit code alone.
 */
import type { ErrorDetail, ErrorDetailG2, ResponseEnvelope, ResponseMeta } from "./envelope-schemas.ts";
import { HoldfastError } from "./errors.ts";
import { exitIn, FIX_COMMANDS, G1, type Generation, retryableIn } from "./generations.ts";
import type { Outcome } from "./outcome.ts";
import { redactText, redactValue } from "./redact.ts";
import type { ElsewhereHit, ElsewhereWorker } from "./replies/cluster.ts";

export type { ErrorDetail, ResponseEnvelope, ResponseMeta };

/** Numbers of G1. */
const ARG_ERROR = 3;
const REDIRECTED = 13;
/** The exit code of the class whose waits grow with each try. */
const UNAVAILABLE = 12;

export interface ResponseOptions {
  readonly duration_ms: number;
  readonly request_id?: string;
  /** The process's exit code, if it is not that of the outcome: a child's (`wait --exit-code-from`), or 143. */
  readonly exitCode?: number;
  readonly generation?: Generation;
  /** Further members of `meta`: truncated, cursor, not_modified. */
  readonly meta?: PageMeta;
}

/** Facts about an answer that go beside it. */
export interface PageMeta {
  /** Something was left out; `cursor` continues there. */
  readonly truncated?: boolean;
  readonly cursor?: string;
  /** The caller already has the answer, so `data` is null. */
  readonly not_modified?: boolean;
  /** How often the command retried by itself. */
  readonly retries?: number;
  /** Placed workers of other nodes, or their records, as the cluster's copy has them. */
  readonly elsewhere?: readonly (ElsewhereWorker | ElsewhereHit)[];
}

export const exitCodeOf = (outcome: Outcome<unknown>, generation: Generation = G1): number =>
  outcome.ok ? 0 : exitIn(generation, outcome.error.row.exit);

/**
 * The envelope and its exit code. An exit code that contradicts the outcome (0 for a failure, or another one for a success)
 * is a defect and throws INTERNAL.
 */
export const toResponseEnvelope = (
  outcome: Outcome<unknown>,
  options: ResponseOptions,
): { envelope: ResponseEnvelope; exitCode: number } => {
  const generation = options.generation ?? G1;
  const exitCode = options.exitCode ?? exitCodeOf(outcome, generation);
  const ok = exitCode === 0;
  if (ok !== outcome.ok)
    throw new HoldfastError(
      "INTERNAL",
      `Exit code ${exitCode} was to be given to a ${outcome.ok ? "success" : "failure"}.`,
    );
  const envelope: ResponseEnvelope = {
    ok,
    data: outcome.ok && !options.meta?.not_modified ? dataOf(outcome.value) : null,
    error: outcome.ok ? null : errorDetail(outcome.error, generation),
    warnings: [...(outcome.warnings ?? [])],
    meta: {
      duration_ms: Math.max(0, Math.round(options.duration_ms)),
      ...(options.request_id !== undefined && { request_id: options.request_id }),
      schema_version: generation.schema_version,
      ...options.meta,
      ...(outcome.ok ? {} : factsOf(outcome.error, outcome.value, generation)),
    },
  };
  return { envelope, exitCode };
};

/** `data` is an object or an array. An absent value becomes an empty object, since null would mean failure. */
const dataOf = (value: unknown): NonNullable<ResponseEnvelope["data"]> => {
  if (value === null || value === undefined) return {};
  return typeof value === "object" ? (value as Record<string, unknown> | unknown[]) : { value };
};

const errorDetail = (error: HoldfastError, generation: Generation): ErrorDetail | ErrorDetailG2 => {
  const { info, row } = error;
  const { problems = [] } = info;
  const detail = info.detail ?? (problems.length > 1 ? problems.join("\n") : undefined);
  // Exit code 3 promises that nothing was done (notes B.2), and so does a redirect: both are of phase validation.
  const phase = info.phase ?? ([ARG_ERROR, REDIRECTED].includes(row.exit) ? "validation" : undefined);
  return {
    code: error.code,
    message: redactText(error.message),
    ...(detail !== undefined && detail.trim() !== "" && { detail: redactText(detail) }),
    ...againOf(error, generation),
    ...(phase !== undefined && { phase }),
    suggestion: redactText(error.suggestion),
    ...(info.redirect !== undefined && {
      redirect: { ...info.redirect, command: redactText(info.redirect.command) },
    }),
  };
};

/** Whether and when the same call may be repeated and, in G2, what the caller must fix before. */
const againOf = (
  { code, info, row }: HoldfastError,
  generation: Generation,
): Partial<ErrorDetail & ErrorDetailG2> => {
  const retryable = retryableIn(generation, row);
  const wait_s = retryable && info.retry_after_s !== undefined ? Math.max(0, info.retry_after_s) : undefined;
  if (generation.backoff === "seconds")
    return { retryable, ...(wait_s !== undefined && { retry_after: Math.ceil(wait_s) }) };
  const fix_required = generation.fixes[row.exit];
  const fix_command = FIX_COMMANDS[code];
  return {
    retryable,
    ...(wait_s !== undefined && { retry_after_ms: Math.ceil(wait_s * 1000) }),
    ...(retryable && {
      retry_strategy: row.exit === UNAVAILABLE ? "exponential_backoff" : "linear_backoff",
    }),
    ...(fix_required !== undefined && { fix_required }),
    ...(fix_required !== undefined && fix_command !== undefined && { fix_command }),
  };
};

/**
 * ErrorDetail is closed, so further facts go into `meta`, which is open: a partial result (`data` is null on failure), all
 * problems, the number of tries, a wait that a retryable error would have in `retry_after`, and the error's own facts.
 */
const factsOf = (
  { info, row }: HoldfastError,
  value: unknown,
  generation: Generation,
): Readonly<Record<string, unknown>> => {
  const { problems, attempts, backoff, details, retry_after_s } = info;
  const isTold = retryableIn(generation, row);
  return redactValue({
    ...(value !== undefined && value !== null && { partial: value }),
    ...(problems !== undefined && { problems }),
    ...(attempts !== undefined && { attempts }),
    ...(backoff !== undefined && { backoff }),
    ...(retry_after_s !== undefined && !isTold && { retry_after: Math.ceil(retry_after_s) }),
    ...(details !== undefined && { details }),
  });
};
