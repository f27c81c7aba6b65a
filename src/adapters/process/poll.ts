/**
 * One slow timer for all runs, besides the file events. It finds changes without an event (an adopted agent
 * whose launcher is not our child, a directory that could not be watched, an event that the kernel dropped)
 * and sets the period of snapshots. Its cost does not grow with the number of quiet runs.
 */
import {
  LAUNCHER_LOOK_MS,
  RUN_POLL_LATE_MS,
  RUN_POLL_MS,
  RUN_POLL_QUIET_RUNS,
  RUN_POLL_SLICE_RUNS,
  SNAPSHOT_PERIOD_MAX_MS,
  SNAPSHOT_PERIOD_MS,
  SNAPSHOT_READS_PER_S,
} from "../../base/limits.ts";
import { isOfTheSystem } from "../../base/system-errors.ts";
import type { Litter } from "./litter.ts";
import type { KinshipRecorder } from "./snapshots.ts";

export interface PolledRun extends KinshipRecorder {
  /** Polled on every tick instead of in turn. */
  isUrgent(): boolean;
  /** Checks, with one system call, whether the launcher that would report the end still exists. */
  lookForLauncher(): void;
  /** No file events tell about its output. */
  isPolled(): boolean;
  look(): void;
  dispose(): void;
  readonly litter?: Litter | undefined;
}

const LAUNCHER_LOOK_TICKS = LAUNCHER_LOOK_MS / RUN_POLL_MS;

/** A scan reads every process of the machine, so it is rarer on a machine with more processes. */
export const snapshotPeriod = (processes: number): number =>
  Math.min(SNAPSHOT_PERIOD_MAX_MS, Math.max(SNAPSHOT_PERIOD_MS, (processes / SNAPSHOT_READS_PER_S) * 1_000));

export class Poller {
  readonly runs = new Set<PolledRun>();
  /** Resolves to the number of processes. */
  private readonly snapshot: () => Promise<number>;
  private readonly onDefect: (cause: unknown) => void;
  private timer: NodeJS.Timeout | undefined;
  private turn = this.runs.values();
  private ticks = 0;
  private tickedAt = 0;
  private snapshotAt = 0;
  /** Runs that may have changed without an event. */
  private unsure = 0;

  constructor(snapshot: () => Promise<number>, onDefect: (cause: unknown) => void) {
    this.snapshot = snapshot;
    this.onDefect = onDefect;
  }

  /** While a run is polled, the timer keeps this process alive, as a child process would. */
  add(run: PolledRun): void {
    this.runs.add(run);
    if (this.timer !== undefined) return;
    this.tickedAt = performance.now();
    this.snapshotAt = this.tickedAt + SNAPSHOT_PERIOD_MS;
    this.timer = setInterval(() => this.tick(), RUN_POLL_MS);
  }

  remove(run: PolledRun): void {
    this.runs.delete(run);
    if (this.runs.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private tick(): void {
    const now = performance.now();
    this.ticks += 1;
    if (this.ticks % LAUNCHER_LOOK_TICKS === 0)
      for (const run of this.runs) this.contain(() => run.lookForLauncher());
    for (const run of this.runs) this.contain(() => run.isUrgent() && run.look());
    for (let looks = this.looks(now); looks > 0; looks -= 1) this.contain(() => this.nextInTurn()?.look());
    if (now >= this.snapshotAt) void this.takeSnapshot();
  }

  /** A late event loop reads its file events late, and the kernel queues only a limited number. */
  private looks(now: number): number {
    if (now - this.tickedAt > RUN_POLL_MS + RUN_POLL_LATE_MS) this.unsure = this.runs.size;
    this.tickedAt = now;
    const slice = this.unsure > 0 ? RUN_POLL_SLICE_RUNS : RUN_POLL_QUIET_RUNS;
    this.unsure = Math.max(0, this.unsure - slice);
    return Math.min(slice, this.runs.size);
  }

  private async takeSnapshot(): Promise<void> {
    this.snapshotAt = Number.POSITIVE_INFINITY;
    let processes = 0;
    try {
      processes = await this.snapshot();
    } catch (cause) {
      this.onDefect(cause);
    }
    this.snapshotAt = performance.now() + snapshotPeriod(processes);
  }

  /**
   * An error in one run must not stop the others. System errors pass and the run is polled again; any other
   * error is a defect.
   */
  private contain(look: () => unknown): void {
    try {
      look();
    } catch (cause) {
      if (!isOfTheSystem(cause)) this.onDefect(cause);
    }
  }

  private nextInTurn(): PolledRun | undefined {
    const next = this.turn.next();
    if (!next.done) return next.value;
    this.turn = this.runs.values();
    return this.turn.next().value;
  }
}
