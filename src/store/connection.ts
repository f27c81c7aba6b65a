/** The one connection that writes: pragmas, schema, identity of the store, and the look at the tail before anything is trusted. */
import { closeSync, openSync } from "node:fs";
import SQLite, { type Database } from "better-sqlite3";
import { HoldfastError } from "../protocol/errors.ts";
import { STORE_BUSY_MAX_MS, STORE_BUSY_OPEN_MS, WAL_KEPT_BYTES } from "../protocol/limits.ts";
import { COLUMNS, type Row, verifiedLine } from "./checksum.ts";
import { migrate } from "./migrations/migrate.ts";
import type { OpenOptions } from "./port.ts";

export const newestSeq = (db: Database): number =>
  db.prepare("SELECT coalesce(max(seq), 0) FROM records").pluck().get() as number;

/** What meta says the newest seq is; it is written in every transaction, so a tail cut off shows. */
export const headInMeta = (db: Database): number =>
  db.prepare("SELECT value FROM meta WHERE key = 'head'").pluck().get() as number;

/** Throws STORE_CORRUPT when the newest record is damaged or missing. */
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

/** Opens or makes the database (mode 0600). To inspect it, the look at the tail is left to the caller. */
export const connect = ({ file, database, inspect }: OpenOptions, newId: () => string): Database => {
  closeSync(openSync(file, "a", 0o600));
  const opened = new SQLite(file, { timeout: STORE_BUSY_MAX_MS });
  const db = database?.(opened) ?? opened;
  try {
    // Of an empty file only: an older one goes on using its free pages, and a damaged one is not written to.
    if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
    db.pragma("journal_mode = WAL");
    migrate(db);
    const addMeta = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING");
    db.transaction(() => {
      addMeta.run("store_id", newId());
      addMeta.run("epoch", newId());
      addMeta.run("head", 0);
    }).immediate();
    if (inspect !== true) checkTail(db);
    db.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
    db.pragma(`busy_timeout = ${STORE_BUSY_OPEN_MS}`);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
};
