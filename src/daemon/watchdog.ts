/**
 * The daemon watches its own loop and its supervisor's tick (promise R37). The loop reports each beat to a
 * watcher outside the loop: a small process, or a thread if there is no perl. The watcher reports a block
 * when the loop cannot.
 */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Effect, type Scope } from "effect";
import { theReaper } from "../adapters/process/reaper.ts";
import { clearName } from "../base/files/regular-file.ts";
import {
  BEAT_PERIOD_MS,
  BEATS_MISSED_MAX,
  CLOCK_TICK_MS,
  TICKS_MISSED_MAX,
  WATCHDOG_FACTS_MAX_BYTES,
  WATCHDOG_HEAP_MAX_MIB,
} from "../base/limits.ts";
import { descriptorOf } from "./log-output.ts";
import type { LoopWatcher, WatchdogData } from "./loop-watcher.ts";
import { stalledFilePath } from "./paths.ts";
import type { Pulse } from "./pulse.ts";
import { watchByProcess } from "./watchdog-process.ts";

/** `daemon.stalled`: exists while the loop or the tick is blocked. */
export interface StallReport {
  readonly pid: number;
  readonly what: "loop" | "tick";
  /** RFC 3339, UTC. */
  readonly since: string;
}

export interface HealthFacts {
  readonly ok: boolean;
  /** Milliseconds since the supervisor last checked its workers' clocks; bad after three periods. */
  readonly tick_age_ms: number;
  /** How often the loop was blocked for more than two of its beats, and the longest block. */
  readonly stalls: { readonly count: number; readonly longest_ms: number };
}

/** In the order of `beats`: a beat of the loop, a tick. */
const LATE_MS = {
  loop_ms: BEATS_MISSED_MAX * BEAT_PERIOD_MS,
  tick_ms: TICKS_MISSED_MAX * CLOCK_TICK_MS,
} as const;

const isSource = import.meta.url.endsWith(".ts");
const THREAD = fileURLToPath(
  new URL(isSource ? "./watchdog-thread.ts" : "./daemon-watchdog.js", import.meta.url),
);

export const watchLoop = (
  pulse: Pulse,
  stateDir: string,
  log: WatchdogData["log"],
  facts: () => object,
  onFailure: (cause: unknown) => void,
): Effect.Effect<Watchdog, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Watchdog(pulse, stalledFilePath(stateDir), log, facts, onFailure)),
    (watchdog) => Effect.sync(() => watchdog.end()),
  );

export class Watchdog {
  private readonly watched: WatchdogData;
  private readonly times: BigInt64Array;
  private readonly words: Buffer;
  private readonly stalls = { count: 0, longest_ms: 0 };
  private readonly facts: () => object;
  private readonly leave: () => void;
  private watcher: LoopWatcher;

  constructor(
    pulse: Pulse,
    file: string,
    log: WatchdogData["log"],
    facts: () => object,
    onFailure: (cause: unknown) => void,
  ) {
    clearName(file);
    rmSync(file, { force: true });
    this.facts = facts;
    const beats = new SharedArrayBuffer(16);
    const shared = new SharedArrayBuffer(WATCHDOG_FACTS_MAX_BYTES);
    this.watched = { pid: process.pid, file, log, beats, facts: shared };
    this.times = new BigInt64Array(beats).fill(now());
    this.words = Buffer.from(shared);
    this.leave = pulse.every(BEAT_PERIOD_MS, () => this.beat());
    const perl = theReaper()?.perl;
    this.watcher =
      perl === undefined
        ? watchByThread(this.watched, onFailure)
        : watchByProcess(perl, this.watched, LATE_MS, (cause) => {
            onFailure(cause);
            this.watcher = watchByThread(this.watched, onFailure);
          });
  }

  /** The loop runs and the facts are current. Also called periodically. */
  beat(): void {
    const late_ms = this.ageMs(0) - BEAT_PERIOD_MS;
    Atomics.store(this.times, 0, now());
    if (late_ms > LATE_MS.loop_ms) {
      this.stalls.count += 1;
      this.stalls.longest_ms = Math.max(this.stalls.longest_ms, late_ms);
    }
    const told = JSON.stringify(this.facts());
    const facts = Buffer.byteLength(told) > WATCHDOG_FACTS_MAX_BYTES ? "null" : told;
    this.words.fill(0);
    this.words.write(facts);
    const log_fd = descriptorOf(this.watched.log);
    this.watcher.beat({ wall_ms: Date.now(), tick_age_ms: this.ageMs(1), log_fd, facts });
  }

  /** The supervisor has checked everything. */
  readonly ticked = (): void => void Atomics.store(this.times, 1, now());

  health(): HealthFacts {
    const tick_age_ms = this.ageMs(1);
    return { ok: tick_age_ms <= LATE_MS.tick_ms, tick_age_ms, stalls: { ...this.stalls } };
  }

  end(): void {
    this.leave();
    this.watcher.end();
    rmSync(this.watched.file, { force: true });
  }

  private ageMs(place: number): number {
    return Number((now() - Atomics.load(this.times, place)) / 1_000_000n);
  }
}

const now = (): bigint => process.hrtime.bigint();

/** The thread reads the shared memory itself. */
const watchByThread = (watched: WatchdogData, onFailure: (cause: unknown) => void): LoopWatcher => {
  const thread = new Worker(THREAD, {
    workerData: watched,
    resourceLimits: { maxOldGenerationSizeMb: WATCHDOG_HEAP_MAX_MIB },
  });
  // Without the thread the daemon continues, but its loop is not watched.
  thread.on("error", onFailure);
  thread.unref();
  return { beat: () => undefined, end: () => void thread.terminate() };
};
