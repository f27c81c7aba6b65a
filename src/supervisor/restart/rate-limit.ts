/**
 * Waits for a provider's rate limit: until it resets, if the provider says when, else longer each time. Pure. No window
 * counts these waits, because they are not the agent's fault; after RATE_LIMIT_WAITS_MAX in a row the worker gives up.
 *
 * The provider may give an instant or a time of day. This is the only place where a wall clock decides something; the result
 * is a bounded wait on the monotonic clock.
 */
import { formatDuration } from "../../base/durations.ts";
import {
  RATE_LIMIT_BACKOFF_MAX_MS,
  RATE_LIMIT_BACKOFF_MIN_MS,
  RATE_LIMIT_JITTER_MAX_MS,
  RATE_LIMIT_PAST_MS,
  RATE_LIMIT_WAIT_MAX_MS,
  RATE_LIMIT_WAITS_MAX,
} from "../../base/limits.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { Now } from "../clocks/now.ts";
import { meantBy } from "../clocks/wall-time.ts";

export const isRateLimited = ({ code }: WorkerError): boolean => code === "RATE_LIMITED";

export interface RateLimitWait {
  readonly delay_ms: number;
  /** The reason, if the wait differs from the provider's. */
  readonly note?: string;
}

type RateLimitReset = Pick<WorkerError, "retry_after_s" | "reset_at" | "resets">;

/**
 * The wait, never shorter than until the reset, with jitter so that workers return one after the other. Undefined if the
 * worker has waited often enough.
 */
export const rateLimitWait = (
  said: RateLimitReset,
  waitsBefore: number,
  { random, wall }: Pick<Now, "random" | "wall">,
): RateLimitWait | undefined => {
  if (waitsBefore >= RATE_LIMIT_WAITS_MAX) return undefined;
  const left = leftUntil(said, wall);
  const backoff = Math.min(RATE_LIMIT_BACKOFF_MIN_MS * 2 ** waitsBefore, RATE_LIMIT_BACKOFF_MAX_MS);
  if (left === undefined) return { delay_ms: jittered(backoff, random) };
  if (left <= 0) return { delay_ms: jittered(backoff, random), note: "the reset that was told has passed" };
  if (left <= RATE_LIMIT_WAIT_MAX_MS) return { delay_ms: jittered(left, random) };
  return {
    delay_ms: jittered(RATE_LIMIT_WAIT_MAX_MS, random),
    note: `the reset that was told is ${formatDuration(Math.round(left / 60_000) * 60_000)} away; it is tried again before`,
  };
};

/** Milliseconds until the reset; undefined if the provider gave no intelligible time. */
const leftUntil = (
  { retry_after_s, reset_at, resets }: RateLimitReset,
  wall: Now["wall"],
): number | undefined => {
  if (retry_after_s !== undefined) return retry_after_s * 1_000;
  const at =
    reset_at !== undefined ? Date.parse(reset_at) : resets && meantBy(resets, wall, RATE_LIMIT_PAST_MS);
  return at === undefined || Number.isNaN(at) ? undefined : at - wall.ms;
};

/** Seconds from now until the reset of a limit that was reported at `told_at`; undefined without an intelligible time. */
export const secondsUntilReset = (
  { retry_after_s, ...said }: RateLimitReset,
  told_at: string | null,
  wall: Now["wall"],
): number | undefined => {
  const since_ms = told_at === null ? 0 : Math.max(0, wall.ms - Date.parse(told_at));
  const left_ms = retry_after_s === undefined ? leftUntil(said, wall) : retry_after_s * 1_000 - since_ms;
  return left_ms === undefined ? undefined : Math.max(0, Math.ceil(left_ms / 1_000));
};

const jittered = (wait: number, random: number): number =>
  Math.round(wait + random * Math.min(RATE_LIMIT_JITTER_MAX_MS, wait));

export const GAVE_UP_ON_RATE_LIMIT = `gave up: the provider's rate limit was reached ${RATE_LIMIT_WAITS_MAX + 1} times in a row`;
