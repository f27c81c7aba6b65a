/** Wall time cannot order or measure; windows and deadlines go on over restarts by this (architecture §4, Time). */
export interface ClockStamp {
  readonly boot_id: string;
  /** Monotonic nanoseconds as a decimal string. */
  readonly mono_ns: string;
}
