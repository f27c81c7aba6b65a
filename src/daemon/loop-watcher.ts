/** Between the watchdog of the loop and its watchers, a process or a thread. */

/** The data that a watcher is given. */
export interface WatchdogData {
  readonly pid: number;
  readonly file: string;
  /** The file of daemon.log. */
  readonly log: Int32Array;
  /** Monotonic nanoseconds: of the loop's last beat, and of the supervisor's last tick. */
  readonly beats: SharedArrayBuffer;
  /** JSON, padded with NUL: what the loop knew at its last beat. */
  readonly facts: SharedArrayBuffer;
}

interface LoopBeat {
  readonly wall_ms: number;
  /** Since the supervisor's last tick. */
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
