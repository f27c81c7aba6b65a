/**
 * A provider's rate limit: the worker waits until it resets, as the provider says, or ever longer where it does not. Pure. No window
 * counts it, because it is not the agent's fault; after RATE_LIMIT_WAITS_MAX in a row it gives up.
 *
 * The provider may say an instant or a time of day: this is the one place where a wall clock decides something, and what comes of it
 * is a wait on the monotonic one, within bounds.
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
  /** The reason, if it is not what the provider said. */
  readonly note?: string;
}

type Said = Pick<WorkerError, "retry_after_s" | "reset_at" | "resets">;

/** Never before the reset; those that wait for the same one come back one after the other. Undefined: it has waited often enough. */
export const rateLimitWait = (
  said: Said,
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

/** Milliseconds; undefined where nothing was told that could be understood. */
const leftUntil = ({ retry_after_s, reset_at, resets }: Said, wall: Now["wall"]): number | undefined => {
  if (retry_after_s !== undefined) return retry_after_s * 1_000;
  const at =
    reset_at !== undefined ? Date.parse(reset_at) : resets && meantBy(resets, wall, RATE_LIMIT_PAST_MS);
  return at === undefined || Number.isNaN(at) ? undefined : at - wall.ms;
};

/** From now, of a limit that was told at that instant; undefined where no reset was told that could be understood. */
export const secondsUntilReset = (
  { retry_after_s, ...said }: Said,
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
