/**
 * One slow timer for all runs, under the file events: it serves what has no event (an adopted agent whose launcher is
 * not our child, a directory that could not be watched, an event that the kernel dropped) and the period of the
 * snapshots. It costs the same however many runs are quiet.
 */
import { RUN_POLL_MS, RUN_POLL_SLICE_RUNS, SNAPSHOT_PERIOD_MS } from "../../protocol/limits.ts";
import type { Recorder } from "./snapshots.ts";

export interface Polled extends Recorder {
  /** Looked at on every tick, not in turn. */
  isUrgent(): boolean;
  /** No file event tells of its output. */
  isPolled(): boolean;
  look(): void;
  dispose(): void;
}

const SNAPSHOT_TICKS = SNAPSHOT_PERIOD_MS / RUN_POLL_MS;

export class Poller {
  readonly runs = new Set<Polled>();
  readonly #snapshot: () => void;
  #timer: NodeJS.Timeout | undefined;
  #turn = this.runs.values();
  #ticks = 0;

  constructor(snapshot: () => void) {
    this.#snapshot = snapshot;
  }

  /** While a run is followed the timer keeps this process alive, as a child process would. */
  add(run: Polled): void {
    this.runs.add(run);
    this.#timer ??= setInterval(() => this.#tick(), RUN_POLL_MS);
  }

  remove(run: Polled): void {
    this.runs.delete(run);
    if (this.runs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    for (const run of this.runs) if (run.isUrgent()) run.look();
    for (let n = Math.min(RUN_POLL_SLICE_RUNS, this.runs.size); n > 0; n -= 1) this.#nextInTurn()?.look();
    this.#ticks += 1;
    if (this.#ticks % SNAPSHOT_TICKS === 0) this.#snapshot();
  }

  #nextInTurn(): Polled | undefined {
    const next = this.#turn.next();
    if (!next.done) return next.value;
    this.#turn = this.runs.values();
    return this.#turn.next().value;
  }
}
