/**
 * One slow timer for all runs, besides the file events. It finds changes without an event (an adopted agent
 * whose launcher is not our child, a directory that could not be watched, an event that the kernel dropped)
 * and sets the period of snapshots. Its cost does not grow with the number of quiet runs. It ticks quickly only
 * while a run is urgent or the event loop is busy, because each tick wakes an idle daemon.
 */
import {
  CLOCK_TICK_MS,
  LAUNCHER_LOOK_MS,
  RUN_POLL_LATE_MS,
  RUN_POLL_MS,
  RUN_POLL_QUIET_MS,
  RUN_POLL_QUIET_RUNS,
  RUN_POLL_SLICE_RUNS,
  SNAPSHOT_PERIOD_MAX_MS,
  SNAPSHOT_PERIOD_MS,
  SNAPSHOT_READS_PER_S,
  TICK_WAIT_MS,
} from "../../base/limits.ts";
import { isOfTheSystem } from "../../base/system-errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { Litter } from "./litter.ts";
import { unwatchLauncher, watchLauncher } from "./process-table.ts";
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
  readonly launcher?: ProcessIdentity;
  readonly litter?: Litter | undefined;
}

const { eventLoopUtilization } = performance;
/** Milliseconds for which the event loop has worked so far. No block was longer than the growth of this number. */
const loopWorkedMs = (): number => eventLoopUtilization().active;

/** A scan reads every process of the machine, so it is rarer on a machine with more processes. */
export const snapshotPeriod = (processes: number): number =>
  Math.min(SNAPSHOT_PERIOD_MAX_MS, Math.max(SNAPSHOT_PERIOD_MS, (processes / SNAPSHOT_READS_PER_S) * 1_000));

export class Poller {
  readonly runs = new Set<PolledRun>();
  /** Resolves to the number of processes. */
  private readonly snapshot: () => Promise<number>;
  private readonly onDefect: (cause: unknown) => void;
  private readonly workedMs: () => number;
  private timer: NodeJS.Timeout | undefined;
  private turn = this.runs.values();
  private isQuick = true;
  /** The runtime's tick brings the quiet polls. */
  private isJoined = false;
  private dueAt = 0;
  private launchersAt = 0;
  private snapshotAt = 0;
  /** At the last tick. */
  private worked = 0;
  /** Runs that may have changed without an event. */
  private unsure = 0;

  constructor(
    snapshot: () => Promise<number>,
    onDefect: (cause: unknown) => void,
    workedMs: () => number = loopWorkedMs,
  ) {
    this.snapshot = snapshot;
    this.onDefect = onDefect;
    this.workedMs = workedMs;
  }

  /** While a run is polled, the timer keeps this process alive, as a child process would. */
  add(run: PolledRun): void {
    this.runs.add(run);
    if (run.launcher !== undefined) watchLauncher(run.launcher);
    if (this.timer === undefined) this.begin();
    else this.hurry();
  }

  remove(run: PolledRun): void {
    this.runs.delete(run);
    if (run.launcher !== undefined) unwatchLauncher(run.launcher);
    if (this.runs.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** A run has become urgent. */
  hurry(): void {
    if (!this.isQuick && this.timer !== undefined) this.wait(true);
  }

  /** The runtime's tick has woken the event loop: a quiet poll that is nearly due comes now, and others with a later tick. */
  join(): void {
    if (this.isQuick || this.timer === undefined) return;
    this.isJoined = true;
    if (this.dueAt - performance.now() < CLOCK_TICK_MS / 2) this.tick();
    else this.wait(false, this.dueAt);
  }

  private begin(): void {
    const now = performance.now();
    this.worked = this.workedMs();
    this.launchersAt = now + LAUNCHER_LOOK_MS - RUN_POLL_LATE_MS;
    this.snapshotAt = now + SNAPSHOT_PERIOD_MS;
    this.wait(true);
  }

  private wait(
    isQuick: boolean,
    dueAt = performance.now() + (isQuick ? RUN_POLL_MS : RUN_POLL_QUIET_MS),
  ): void {
    this.isQuick = isQuick;
    this.dueAt = dueAt;
    clearTimeout(this.timer);
    const tickWaitMs = this.isJoined && !isQuick ? TICK_WAIT_MS : 0;
    this.timer = setTimeout(
      () => {
        this.isJoined = false;
        this.dueAt += tickWaitMs;
        this.tick();
      },
      dueAt - performance.now() + tickWaitMs,
    );
  }

  private tick(): void {
    const now = performance.now();
    if (now >= this.launchersAt) {
      this.launchersAt = now + LAUNCHER_LOOK_MS - RUN_POLL_LATE_MS;
      for (const run of this.runs) this.contain(() => run.lookForLauncher());
    }
    let areUrgent = false;
    for (const run of this.runs)
      this.contain(() => {
        if (!run.isUrgent()) return;
        areUrgent = true;
        run.look();
      });
    const isBusy = this.doubt(now);
    for (let looks = this.looks(); looks > 0; looks -= 1) this.contain(() => this.nextInTurn()?.look());
    if (now >= this.snapshotAt) void this.takeSnapshot();
    // The last run may just have ended.
    if (this.timer !== undefined) this.wait(areUrgent || isBusy || this.unsure > 0);
  }

  /**
   * A late event loop reads its file events late, and the kernel queues only a limited number. Answers whether
   * the loop is so busy that the next tick may be late.
   */
  private doubt(now: number): boolean {
    const worked = this.workedMs();
    const isBusy = worked - this.worked > RUN_POLL_LATE_MS;
    this.worked = worked;
    // In a long wait the loop may have been late without a late tick.
    if (now - this.dueAt > RUN_POLL_LATE_MS || (isBusy && !this.isQuick)) this.unsure = this.runs.size;
    return isBusy;
  }

  private looks(): number {
    const quiet = this.isQuick
      ? RUN_POLL_QUIET_RUNS
      : RUN_POLL_QUIET_RUNS * (RUN_POLL_QUIET_MS / RUN_POLL_MS);
    const slice = this.unsure > 0 ? RUN_POLL_SLICE_RUNS : quiet;
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
