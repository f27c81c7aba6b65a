/** The options of opening a log. */
import type { Database } from "better-sqlite3";

export interface LogOptions {
  readonly file: string;
  /** Wall clock in epoch milliseconds and ids, passed in (style habit 9). */
  readonly now?: () => number;
  readonly id?: () => string;
  /** Told what a listener threw; the transaction is committed all the same. */
  readonly onDefect?: (cause: unknown) => void;
  /** Told in one sentence what was put right when it was opened. */
  readonly report?: (sentence: string) => void;
  /** Open a log whose tail is damaged too, so that `check` can say what is wrong; nothing should be appended then. */
  readonly inspect?: boolean;
  /** Wraps the connection: how a test makes it fail. */
  readonly database?: (db: Database) => Database;
  /** Another size than RESERVE_BYTES, for tests; 0 is none. */
  readonly reserve_bytes?: number;
  /** Free bytes of the disk; undefined where nobody can say. */
  readonly freeBytes?: () => number | undefined;
  /** Other bounds than WAL_KEPT_BYTES and WAL_MAX_BYTES, for tests. */
  readonly wal?: { readonly kept_bytes: number; readonly max_bytes: number };
}
