/** How many requests somebody may make in a minute: a window that slides. Pure: the caller says what time it is. */
import { WEBLISK_RATE_NAMES_MAX, WEBLISK_RATE_WINDOW_MS } from "../../base/limits.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

/** A limit as its requester sees it. */
export interface RateState {
  /** Requests in a window. */
  readonly limit: number;
  readonly remaining: number;
  /** When the oldest counted request leaves the window, in epoch seconds. */
  readonly reset: number;
}

/** Told of each limit that a request meets. */
export type RateTeller = (state: RateState) => void;

export class RequestRate {
  private readonly max: number;
  private readonly taken = new Map<string, number[]>();

  /** `max`: requests of one name in a window. */
  constructor(max: number) {
    this.max = max;
  }

  /** Throws RATE_LIMITED, with the seconds until there is room. `now` in epoch milliseconds. */
  take(name: string, now: number, told: RateTeller = () => undefined): void {
    const times = (this.taken.get(name) ?? []).filter((time) => time > now - WEBLISK_RATE_WINDOW_MS);
    const isFull = times.length >= this.max;
    if (!isFull) times.push(now);
    const free_ms = (times[0] ?? now) + WEBLISK_RATE_WINDOW_MS;
    told({ limit: this.max, remaining: this.max - times.length, reset: Math.ceil(free_ms / 1_000) });
    if (isFull) throw this.full(free_ms - now);
    this.taken.delete(name);
    this.taken.set(name, times);
    const [oldest] = this.taken.keys();
    if (this.taken.size > WEBLISK_RATE_NAMES_MAX && oldest !== undefined) this.taken.delete(oldest);
  }

  private full(wait_ms: number): WebliskRefusal {
    const retry_after = Math.max(1, Math.ceil(wait_ms / 1_000));
    return new WebliskRefusal(
      "RATE_LIMITED",
      `At most ${this.max} requests a minute are served; try again in ${retry_after} s.`,
      { reason: "rate", retry_after },
    );
  }
}

/** Headers of an answer about the tightest limit that its request met. */
export const rateHeaders = (met: readonly RateState[]): Readonly<Record<string, string>> => {
  const [tightest] = met.toSorted((one, other) => one.remaining - other.remaining);
  return tightest === undefined
    ? {}
    : {
        "x-ratelimit-limit": String(tightest.limit),
        "x-ratelimit-remaining": String(tightest.remaining),
        "x-ratelimit-reset": String(tightest.reset),
      };
};
