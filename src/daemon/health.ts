/**
 * The daemon's health: how late the event loop was in the last minute (promise R15), and how many defects it
 * contained. An idle loop is not late and should not be woken for a measurement, so the fine measurement runs
 * only while there is work.
 */
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { Effect, type Scope } from "effect";
import {
  LAG_BUSY_PART,
  LAG_LOOK_MS,
  LAG_RESOLUTION_MS,
  LAG_WINDOW_MS,
  TRIM_AFTER_LOOKS,
} from "../base/limits.ts";
import type { Pulse } from "./pulse.ts";

/**
 * Milliseconds by which the busy loop was late, beyond its timer's own period, in the current window of at
 * most a minute.
 */
export interface LoopLag {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Health {
  loopLag(): LoopLag;
}

const rounded = (ms: number): number => Math.max(0, Math.round(ms * 10) / 10);

/** Node's histogram has the whole period between two ticks; the lag is the part beyond the nominal period. */
const lagMs = (periodNs: number): number => rounded(periodNs / 1e6 - LAG_RESOLUTION_MS);

/**
 * Detects that a busy loop has become idle: it was not busy at several checks in a row. A boot counts as
 * work.
 */
export class RestCounter {
  private quietLooks = 0;

  /** True at the check at which the loop has become idle. */
  look(isBusy: boolean): boolean {
    this.quietLooks = isBusy ? 0 : this.quietLooks + 1;
    return this.quietLooks === TRIM_AFTER_LOOKS;
  }
}

class LoopWatch implements Health {
  private readonly histogram = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  private readonly leave: () => void;
  private used = performance.eventLoopUtilization();
  private windowAt = performance.now();
  /** The longest delay of the window that the histogram no longer has, or that the check itself had: a block of a loop that was idle. */
  private latest = 0;
  private isMeasured = false;
  private readonly rest = new RestCounter();
  private readonly onQuiet: () => void;

  constructor(pulse: Pulse, onQuiet: () => void) {
    this.leave = pulse.every(LAG_LOOK_MS, (late_ms) => this.look(late_ms));
    this.onQuiet = onQuiet;
  }

  private look(late_ms: number): void {
    const now = performance.now();
    if (now - this.windowAt >= LAG_WINDOW_MS) {
      this.histogram.reset();
      this.latest = 0;
      this.windowAt = now;
    }
    this.latest = Math.max(this.latest, late_ms);
    const used = performance.eventLoopUtilization();
    const isBusy = performance.eventLoopUtilization(used, this.used).utilization > LAG_BUSY_PART;
    this.used = used;
    if (isBusy !== this.isMeasured) this.measure(isBusy);
    if (this.rest.look(isBusy)) this.onQuiet();
  }

  private measure(isBusy: boolean): void {
    const { histogram } = this;
    this.isMeasured = isBusy;
    if (!isBusy) {
      histogram.disable();
      return;
    }
    if (histogram.count > 0) this.latest = Math.max(this.latest, lagMs(histogram.max));
    // Node would count the whole time without a measurement as one delay.
    histogram.reset();
    histogram.enable();
  }

  loopLag(): LoopLag {
    const { histogram } = this;
    if (histogram.count === 0) return { p50: 0, p99: 0, max: rounded(this.latest) };
    const max = Math.max(lagMs(histogram.max), rounded(this.latest));
    return { p50: lagMs(histogram.percentile(50)), p99: lagMs(histogram.percentile(99)), max };
  }

  close(): void {
    this.leave();
    this.histogram.disable();
  }
}

/** `onQuiet` is called each time that the loop has become idle. */
export const watchHealth = (pulse: Pulse, onQuiet: () => void): Effect.Effect<Health, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new LoopWatch(pulse, onQuiet)),
    (watch) => Effect.sync(() => watch.close()),
  );
