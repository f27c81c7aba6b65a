/** Options for opening a log. */
import type { Database } from "better-sqlite3";

export interface LogOptions {
  readonly file: string;
  /** The wall clock in epoch milliseconds, and the source of ids (style habit 9). */
  readonly now?: () => number;
  readonly id?: () => string;
  /** Called with the error of a listener. The transaction is committed all the same. */
  readonly onDefect?: (cause: unknown) => void;
  /** Called with one sentence for each repair at the opening. */
  readonly report?: (sentence: string) => void;
  /** Opens even a log with a damaged tail, so that `check` can describe it. Nothing should be appended then. */
  readonly inspect?: boolean;
  /** Wraps the connection, so that a test can make it fail. */
  readonly database?: (db: Database) => Database;
  /** The size of the reserve, for tests; 0 for none. Default: RESERVE_BYTES. */
  readonly reserve_bytes?: number;
  /** Free bytes of the disk; undefined if unknown. */
  readonly freeBytes?: () => number | undefined;
  /** Bounds of the write-ahead log, for tests. Default: WAL_KEPT_BYTES and WAL_MAX_BYTES. */
  readonly wal?: { readonly kept_bytes: number; readonly max_bytes: number };
}
