/**
 * The daemon watches its own loop and its supervisor's tick (promise R37). The loop beats into shared memory; a thread
 * of its own looks whether it does, and tells where nobody else can.
 */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Effect, type Scope } from "effect";
import {
  BEAT_PERIOD_MS,
  BEATS_MISSED_MAX,
  CLOCK_TICK_MS,
  WATCHDOG_FACTS_MAX_BYTES,
  WATCHDOG_HEAP_MAX_MIB,
} from "../base/limits.ts";
import { clearName } from "../store/regular-file.ts";
import { stalledFilePath } from "./paths.ts";

/** The data that the thread is given. */
export interface Watched {
  readonly pid: number;
  readonly file: string;
  /** The file of daemon.log. */
  readonly log: Int32Array;
  /** Monotonic nanoseconds: of the loop's last beat, and of the supervisor's last tick. */
  readonly beats: SharedArrayBuffer;
  /** JSON, padded with NUL: what the loop knew at its last beat. */
  readonly facts: SharedArrayBuffer;
}

/** `daemon.stalled`: there while something that is watched does not run. */
export interface Stalled {
  readonly pid: number;
  readonly what: "loop" | "tick";
  /** RFC 3339, UTC. */
  readonly since: string;
}

export interface HealthFacts {
  readonly ok: boolean;
  /** Since the supervisor last looked at its workers' clocks; bad after three periods. */
  readonly tick_age_ms: number;
  /** How often the loop was blocked for more than three of its beats, and for how long at most. */
  readonly stalls: { readonly count: number; readonly longest_ms: number };
}

export interface Watchdog {
  /** The loop runs, and `facts` are known: also called on a period. */
  beat(): void;
  /** The supervisor has looked at everything. */
  ticked(): void;
  health(): HealthFacts;
}

const isSource = import.meta.url.endsWith(".ts");
const THREAD = fileURLToPath(
  new URL(isSource ? "./watchdog-thread.ts" : "./daemon-watchdog.js", import.meta.url),
);

export const watchLoop = (
  stateDir: string,
  log: Watched["log"],
  facts: () => object,
  onFailure: (cause: unknown) => void,
): Effect.Effect<Watchdog, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => begin(stateDir, log, facts, onFailure)),
      ({ end }) => Effect.sync(end),
    ),
    ({ watchdog }) => watchdog,
  );

const begin = (
  stateDir: string,
  log: Watched["log"],
  facts: () => object,
  onFailure: (cause: unknown) => void,
) => {
  const file = stalledFilePath(stateDir);
  clearName(file);
  rmSync(file, { force: true });
  const watched: Watched = {
    pid: process.pid,
    file,
    log,
    beats: new SharedArrayBuffer(16),
    facts: new SharedArrayBuffer(WATCHDOG_FACTS_MAX_BYTES),
  };
  const times = new BigInt64Array(watched.beats);
  const words = Buffer.from(watched.facts);
  const stalls = { count: 0, longest_ms: 0 };
  const now = (): bigint => process.hrtime.bigint();
  const ageMs = (place: number): number => Number((now() - Atomics.load(times, place)) / 1_000_000n);
  const beat = (): void => {
    const late_ms = ageMs(0) - BEAT_PERIOD_MS;
    Atomics.store(times, 0, now());
    if (late_ms > BEATS_MISSED_MAX * BEAT_PERIOD_MS) {
      stalls.count += 1;
      stalls.longest_ms = Math.max(stalls.longest_ms, late_ms);
    }
    words.fill(0);
    words.write(JSON.stringify(facts()));
  };
  times.fill(now());
  const beating = setInterval(beat, BEAT_PERIOD_MS);
  const thread = new Worker(THREAD, {
    workerData: watched,
    resourceLimits: { maxOldGenerationSizeMb: WATCHDOG_HEAP_MAX_MIB },
  });
  // Without it the daemon works on, and its loop is not watched.
  thread.on("error", onFailure);
  thread.unref();
  const watchdog: Watchdog = {
    beat,
    ticked: () => void Atomics.store(times, 1, now()),
    health: () => {
      const tick_age_ms = ageMs(1);
      return { ok: tick_age_ms <= BEATS_MISSED_MAX * CLOCK_TICK_MS, tick_age_ms, stalls: { ...stalls } };
    },
  };
  const end = (): void => {
    clearInterval(beating);
    void thread.terminate();
    rmSync(file, { force: true });
  };
  return { watchdog, end };
};
