/**
 * The request for a collection of old records, and its report. No SQLite types, because the library's declarations use it.
 */
export interface GcOptions {
  /** Output recorded before this instant is moved, and the records of what was settled before it. Epoch milliseconds. */
  readonly before_ms: number;
  /** Then the oldest output is moved until the log has at most this many bytes. Undefined: no bound. */
  readonly max_bytes?: number | undefined;
  /** Only report what would be removed. */
  readonly dry_run?: boolean;
  /** False: remove the records without an archive. */
  readonly archive?: boolean;
}

export interface GcReport {
  /** Removed records; with `dry_run`, those that would be. */
  readonly records: number;
  /** Those of them that are no output: of items, messages, schedules and tokens that are gone. */
  readonly settled_records: number;
  readonly archives: readonly string[];
  /** Bytes of the database returned to the disk, and free bytes kept for new records. */
  readonly freed_bytes: number;
  readonly reusable_bytes: number;
  /** True if an early version created the database: only `agent db gc --vacuum` returns its free space to the disk. */
  readonly needs_vacuum: boolean;
}
