/** The request for a collection of old output, and its report. Without SQLite's types: the library's declarations name it. */
export interface GcOptions {
  /** Output recorded before this instant, in epoch milliseconds. */
  readonly before_ms: number;
  /** And the oldest output, whatever its age, until the log takes no more than this. Undefined: however much it takes. */
  readonly max_bytes?: number | undefined;
  /** Only say what would be removed. */
  readonly dry_run?: boolean;
  /** False: what is removed is gone. */
  readonly archive?: boolean;
}

export interface GcReport {
  /** Removed, or with `dry_run` what would be. */
  readonly records: number;
  readonly archives: readonly string[];
  /** Bytes of the database that the disk has got back, and those that it keeps for new records. */
  readonly freed_bytes: number;
  readonly reusable_bytes: number;
  /** The database was made by an early version: what is free goes back to the disk by `agent db gc --vacuum` only. */
  readonly needs_vacuum: boolean;
}
