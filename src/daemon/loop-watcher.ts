/** Types for the watchdog of the loop and its watcher, which is a process or a thread. */

/** The data for a watcher. */
export interface WatchdogData {
  readonly pid: number;
  readonly file: string;
  /** The descriptor of daemon.log, in shared memory. */
  readonly log: Int32Array;
  /** Monotonic nanoseconds: the loop's last beat, and the supervisor's last tick. */
  readonly beats: SharedArrayBuffer;
  /** JSON, padded with NUL: the facts that the loop knew at its last beat. */
  readonly facts: SharedArrayBuffer;
}

interface LoopBeat {
  readonly wall_ms: number;
  /** Milliseconds since the supervisor's last tick. */
  readonly tick_age_ms: number;
  /** The descriptor of daemon.log in this process. */
  readonly log_fd: number;
  /** JSON, on one line. */
  readonly facts: string;
}

export interface LoopWatcher {
  beat(beat: LoopBeat): void;
  end(): void;
}
