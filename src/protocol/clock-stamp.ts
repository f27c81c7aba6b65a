/** A time that orders and measures, which wall time cannot: windows and deadlines continue from it after a restart (architecture §4, Time). */
export interface ClockStamp {
  readonly boot_id: string;
  /** Monotonic nanoseconds as a decimal string. */
  readonly mono_ns: string;
}

/** An instant that is some time after a record: it holds over restarts of the daemon, and of the machine. */
export interface Deadline {
  /** The stamp of the record. */
  readonly clock: ClockStamp;
  /** When it was recorded: RFC 3339. */
  readonly at: string;
  readonly after_ms: number;
}
