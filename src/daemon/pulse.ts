/**
 * The daemon's pulse: one timer for all periodic checks of the daemon itself. To wake an idle process costs more than
 * the checks do, so the pulse also joins the supervisor's tick, which wakes the daemon anyway.
 */
import { Effect, type Scope } from "effect";
import { BEAT_PERIOD_MS, TICK_WAIT_MS } from "../base/limits.ts";

/** `late_ms`: how long the event loop had no turn for it. */
type Look = (late_ms: number) => void;

interface PeriodicLook {
  readonly look: Look;
  readonly period_ms: number;
  lookedAt: number;
}

export class Pulse {
  private readonly looks = new Set<PeriodicLook>();
  /** Also keeps the process alive while nothing else does, because a daemon ends only when it is told to. */
  private timer: NodeJS.Timeout | undefined;
  private beatAt = performance.now();
  private dueAt = 0;

  constructor() {
    this.wait(BEAT_PERIOD_MS);
  }

  /** Calls `look` on a period until the returned function is called. `period_ms` is a multiple of BEAT_PERIOD_MS. */
  every(period_ms: number, look: Look): () => void {
    const one = { look, period_ms, lookedAt: performance.now() };
    this.looks.add(one);
    return () => void this.looks.delete(one);
  }

  /** The supervisor's tick has woken the loop: the next beat comes now, and the one after it with the next tick. */
  readonly join = (): void => {
    if (performance.now() - this.beatAt > BEAT_PERIOD_MS / 2) this.beat(this.dueAt);
    this.wait(BEAT_PERIOD_MS + TICK_WAIT_MS);
  };

  end(): void {
    clearTimeout(this.timer);
  }

  private wait(ms: number): void {
    clearTimeout(this.timer);
    const dueAt = performance.now() + ms;
    this.dueAt = dueAt;
    this.timer = setTimeout(() => {
      // First, because a look may throw.
      this.wait(BEAT_PERIOD_MS);
      this.beat(dueAt);
    }, ms);
  }

  private beat(dueAt: number): void {
    const now = performance.now();
    const late_ms = Math.max(0, now - dueAt);
    this.beatAt = now;
    for (const one of this.looks) {
      if (now - one.lookedAt < one.period_ms - BEAT_PERIOD_MS / 2) continue;
      one.lookedAt = now;
      one.look(late_ms);
    }
  }
}

export const startPulse: Effect.Effect<Pulse, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => new Pulse()),
  (pulse) => Effect.sync(() => pulse.end()),
);
