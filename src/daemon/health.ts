/** The daemon watches its own tick: how late the event loop runs, over the last minute (promise R15), and how many defects it contained. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Effect, type Scope } from "effect";
import { LAG_RESOLUTION_MS, LAG_WINDOW_MS } from "../base/limits.ts";

/** Milliseconds by which the loop was late, beyond its timer's own period, in the current window of at most a minute. */
export interface LoopLag {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Health {
  loopLag(): LoopLag;
}

/** Node's histogram holds the whole period between two ticks; the lag is what is over the period. */
const lagMs = (periodNs: number): number =>
  Math.max(0, Math.round((periodNs / 1e6 - LAG_RESOLUTION_MS) * 10) / 10);

export const watchHealth: Effect.Effect<Health, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const histogram = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
    histogram.enable();
    // It also keeps the process alive while nothing else does: a daemon ends when it is told to, not when it is idle.
    const window = setInterval(() => histogram.reset(), LAG_WINDOW_MS);
    return { histogram, window };
  }),
  ({ histogram, window }) =>
    Effect.sync(() => {
      clearInterval(window);
      histogram.disable();
    }),
).pipe(
  Effect.map(({ histogram }) => ({
    loopLag: () => ({
      p50: lagMs(histogram.percentile(50)),
      p99: lagMs(histogram.percentile(99)),
      max: lagMs(histogram.max),
    }),
  })),
);
