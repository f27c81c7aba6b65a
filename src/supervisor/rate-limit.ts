/**
 * A provider's rate limit: the worker waits until it resets, as the provider says, or ever longer where it does not. Pure. No window
 * counts it, because it is not the agent's fault; after RATE_LIMIT_WAITS_MAX in a row it gives up.
 */
import {
  RATE_LIMIT_BACKOFF_MAX_MS,
  RATE_LIMIT_BACKOFF_MIN_MS,
  RATE_LIMIT_JITTER_MAX_MS,
  RATE_LIMIT_WAIT_MAX_MS,
  RATE_LIMIT_WAITS_MAX,
} from "../protocol/limits.ts";
import type { WorkerError } from "../protocol/records.ts";

export const isRateLimited = ({ code }: WorkerError): boolean => code === "RATE_LIMITED";

/** Never before the reset; those that wait for the same one come back one after the other. Undefined: it has waited often enough. */
export const rateLimitDelay = (
  { retry_after_s }: Pick<WorkerError, "retry_after_s">,
  waitsBefore: number,
  random: number,
): number | undefined => {
  if (waitsBefore >= RATE_LIMIT_WAITS_MAX) return undefined;
  const wait =
    retry_after_s === undefined
      ? Math.min(RATE_LIMIT_BACKOFF_MIN_MS * 2 ** waitsBefore, RATE_LIMIT_BACKOFF_MAX_MS)
      : Math.min(retry_after_s * 1_000, RATE_LIMIT_WAIT_MAX_MS);
  return Math.round(wait + random * Math.min(RATE_LIMIT_JITTER_MAX_MS, wait));
};

export const GAVE_UP_ON_RATE_LIMIT = `gave up: the provider's rate limit was reached ${RATE_LIMIT_WAITS_MAX + 1} times in a row`;
