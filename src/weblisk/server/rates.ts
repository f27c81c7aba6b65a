/** How many requests somebody may make in a minute: a window that slides. Pure: the caller says what time it is. */
import { WEBLISK_RATE_NAMES_MAX, WEBLISK_RATE_WINDOW_MS } from "../../base/limits.ts";
import { WebliskRefusal } from "../wire/refusal.ts";

export class RequestRate {
  private readonly max: number;
  private readonly taken = new Map<string, number[]>();

  /** `max`: requests of one name in a window. */
  constructor(max: number) {
    this.max = max;
  }

  /** Throws RATE_LIMITED, with the seconds until there is room. `now` in milliseconds. */
  take(name: string, now: number): void {
    const times = (this.taken.get(name) ?? []).filter((time) => time > now - WEBLISK_RATE_WINDOW_MS);
    if (times.length >= this.max) throw this.full((times[0] as number) + WEBLISK_RATE_WINDOW_MS - now);
    times.push(now);
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
