/**
 * Remembers for a while where the processes that ask belong. A program that makes a connection for each request is looked up
 * once, as one that keeps its connection is (docs/decisions/0033).
 */
import { ORIGIN_KEPT_MS, ORIGINS_KEPT_MAX } from "../../base/limits.ts";
import type { ProcessOrigin } from "../posix.ts";

interface KnownOrigin {
  readonly start_time: string;
  readonly origin: ProcessOrigin;
  readonly until: number;
}

export class KnownOrigins {
  /** Monotonic milliseconds. */
  private readonly now: () => number;
  /** By pid, the oldest first. */
  private readonly known = new Map<number, KnownOrigin>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** The origin of exactly this process, or what `look` finds. */
  of(pid: number, start_time: string, look: () => ProcessOrigin): ProcessOrigin {
    const kept = this.known.get(pid);
    if (kept?.start_time === start_time && this.now() < kept.until) return kept.origin;
    this.known.delete(pid);
    const origin = look();
    // A child of the daemon may belong to a run that is only starting.
    if (origin.type === "gone" || origin.type === "daemon") return origin;
    if (this.known.size >= ORIGINS_KEPT_MAX)
      for (const oldest of this.known.keys()) {
        this.known.delete(oldest);
        break;
      }
    this.known.set(pid, { start_time, origin, until: this.now() + ORIGIN_KEPT_MS });
    return origin;
  }
}
