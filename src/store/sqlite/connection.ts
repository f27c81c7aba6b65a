/**
 * The only connection that writes: pragmas, schema, identity of the store, and the check of the tail before anything is
 * trusted.
 */
import { closeSync, openSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { STORE_BUSY_MAX_MS, STORE_BUSY_OPEN_MS, WAL_KEPT_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { COLUMNS, type Row, verifiedLine } from "./checksum.ts";
import { openDatabase, refuseIrregular } from "./database.ts";
import { migrate } from "./migrations/migrate.ts";
import type { LogOptions } from "./open-options.ts";

export const newestSeq = (db: Database): number =>
  db.prepare("SELECT coalesce(max(seq), 0) FROM records").pluck().get() as number;

/** The newest seq in `meta`. Every transaction writes it, so a cut-off tail is found. */
export const headInMeta = (db: Database): number =>
  db.prepare("SELECT value FROM meta WHERE key = 'head'").pluck().get() as number;

/** Throws STORE_CORRUPT if the newest record is damaged or missing. */
export const checkTail = (db: Database): void => {
  const head = headInMeta(db);
  const newest = newestSeq(db);
  if (newest !== head)
    throw new HoldfastError(
      "STORE_CORRUPT",
      `The event log ends at record ${newest}, but it was written up to ${head}.`,
    );
  const tail = db.prepare<[number], Row>(`SELECT ${COLUMNS} FROM records WHERE seq = ?`).raw().get(head) as
    | Row
    | undefined;
  if (tail) verifiedLine(tail);
};

const META = ["store_id", "epoch", "head"] as const;
/** True if the log has its identity. Opening such a log writes nothing, because its disk may be full. */
const isIdentified = (db: Database): boolean => {
  const known = db.prepare("SELECT key FROM meta").pluck().all();
  return META.every((key) => known.includes(key));
};

const identify = (db: Database, newId: () => string): void => {
  const add = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING");
  db.transaction(() => {
    for (const key of META) add.run(key, key === "head" ? 0 : newId());
  }).immediate();
};

const connectBy = (
  { file, database, inspect }: LogOptions,
  newId: () => string,
  isAlone: boolean,
): Database => {
  refuseIrregular(file);
  closeSync(openSync(file, "a", 0o600));
  const opened = openDatabase(file, { timeout: STORE_BUSY_MAX_MS });
  const db = database?.(opened) ?? opened;
  try {
    if (isAlone) db.pragma("locking_mode = EXCLUSIVE");
    // Set this only in an empty file: an older one goes on using its free pages, and a damaged one must not be written to.
    if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    migrate(db);
    if (!isIdentified(db)) identify(db, newId);
    if (inspect !== true) checkTail(db);
    db.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
    db.pragma(`busy_timeout = ${STORE_BUSY_OPEN_MS}`);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
};

export interface LogConnection {
  readonly db: Database;
  /** True if no other connection can read the log meanwhile. */
  readonly isAlone: boolean;
}

/**
 * Opens or creates the database (mode 0600). With `inspect`, the caller checks the tail. A full disk has no room for the
 * index that connections share (`-shm`): then this connection opens the log alone and has that index in memory.
 */
export const connect = (options: LogOptions, newId: () => string): LogConnection => {
  try {
    return { db: connectBy(options, newId, false), isAlone: false };
  } catch (cause) {
    if (!isShortOfRoom(cause) || options.inspect === true) throw cause;
    return { db: connectBy(options, newId, true), isAlone: true };
  }
};

const isShortOfRoom = (cause: unknown): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  /^(SQLITE_FULL|SQLITE_IOERR_SHM|ENOSPC)/.test(String(cause.code));
