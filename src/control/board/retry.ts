/**
 * Whether a card whose worker failed is tried again, and when: by the code of the failure alone. The classes and their bounds
 * are those of protocol-v1 notes 2.8, which finds them by words in a message. Pure.
 */
import { backoffDelay } from "../../base/backoff.ts";
import type { V1Code } from "../../protocol/error-row.ts";
import { ERROR_CATALOGUE, type ErrorCode } from "../../protocol/errors.ts";
import type { WorkerError } from "../../protocol/records.ts";

interface RetryBounds {
  readonly min_ms: number;
  readonly max_ms: number;
  /** Failures in a row after which nobody tries again. */
  readonly tries_max: number;
}

const MINUTE_MS = 60_000;

export const RETRY_CLASSES = {
  timeout: { min_ms: 5_000, max_ms: 2 * MINUTE_MS, tries_max: 5 },
  transport: { min_ms: 10_000, max_ms: 5 * MINUTE_MS, tries_max: 8 },
  storage: { min_ms: 2_000, max_ms: MINUTE_MS, tries_max: 6 },
  transient: { min_ms: 5_000, max_ms: 2 * MINUTE_MS, tries_max: 5 },
  /** Not before the provider's reset, if it says when. */
  rate_limit: { min_ms: MINUTE_MS, max_ms: 30 * MINUTE_MS, tries_max: 20 },
  /** The agent itself failed: another one may do better, once or twice. */
  execution: { min_ms: 10_000, max_ms: 5 * MINUTE_MS, tries_max: 3 },
} as const satisfies Readonly<Record<string, RetryBounds>>;
export type RetryClass = keyof typeof RETRY_CLASSES;

/** Null: another try would end in the same way, so a person looks at it. */
const OF_V1: Readonly<Record<V1Code, RetryClass | null>> = {
  EARG: null,
  EAUTH: null,
  ERATELIMIT: "rate_limit",
  EPAGINATION: null,
  ERUNTIME: "execution",
  ENOTFOUND: null,
  ETIMEOUT: "timeout",
  EPOLICY: null,
  ESKILLDOWN: "transient",
  EPARSE: null,
  EOUTPUT_TOO_LARGE: null,
  EENVELOPE: null,
  EIO: "storage",
  ECANCELED: null,
  EOPENAPI: null,
};

/** Codes whose Protocol v1 code says too little. */
const OF_CODE: Partial<Readonly<Record<ErrorCode, RetryClass>>> = {
  UNAVAILABLE: "transport",
  PROVIDER_ERROR: "transport",
  DAEMON_UNHEALTHY: "transport",
  // The queue of the machine is full.
  RESOURCE_EXHAUSTED: "transport",
  QUEUE_FULL: "transport",
  SUPERVISOR_GAVE_UP: "execution",
  NO_TERMINAL_EVENT: "transient",
  OUT_OF_MEMORY: "transient",
  WORKER_LOST: "transient",
  // A worker of another card, or of another try, has its name.
  ALREADY_EXISTS: "transient",
};

/** Exit codes of G1 for what is wrong before anything runs: arguments, preconditions. */
const BEFORE_A_RUN: readonly number[] = [3, 4];

export const retryClassOf = (code: ErrorCode): RetryClass | null => {
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code] : undefined;
  if (row === undefined || row.restart === "never") return null;
  const own = OF_CODE[code];
  if (own !== undefined) return own;
  return BEFORE_A_RUN.includes(row.exit) ? null : OF_V1[row.v1];
};

export interface Retry {
  readonly retry_class: RetryClass;
  readonly delay_ms: number;
}

/** `failures`: those in a row before this one. Undefined where there is no further try. */
export const retryAfter = (
  { code, retry_after_s = 0 }: Pick<WorkerError, "code" | "retry_after_s">,
  failures: number,
  random: number,
): Retry | undefined => {
  const retry_class = retryClassOf(code);
  if (retry_class === null) return undefined;
  const bounds: RetryBounds = RETRY_CLASSES[retry_class];
  if (failures + 1 >= bounds.tries_max) return undefined;
  const told_ms = Math.min(retry_after_s * 1_000, bounds.max_ms);
  return { retry_class, delay_ms: Math.max(told_ms, backoffDelay(failures + 1, bounds, random)) };
};
