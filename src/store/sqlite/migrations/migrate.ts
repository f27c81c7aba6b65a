/**
 * Brings a database to the newest schema by numbered steps, forward only, in one transaction. A newer schema is refused.
 */
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../../base/crash-point.ts";
import { HoldfastError } from "../../../protocol/errors.ts";
import { log } from "./001-log.ts";
import { retention } from "./002-retention.ts";
import { heartbeats } from "./003-heartbeats.ts";

/** Step n of the list makes schema n + 1. Steps are never edited once released. */
const STEPS: readonly string[] = [log, retention, heartbeats];

/** "HOLD" in ASCII: PRAGMA application_id of our files. */
const APPLICATION_ID = 0x484f4c44;

const isEmpty = (db: Database): boolean => db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;

export const schemaOf = (db: Database): number => db.pragma("user_version", { simple: true }) as number;

/** Throws STORE_FAILED for a newer schema: an older program must not touch such a log. */
export const refuseNewer = (found: number): void => {
  if (found <= STEPS.length) return;
  throw new HoldfastError(
    "STORE_FAILED",
    `The event log has schema ${found}, but this version knows schemas only up to ${STEPS.length}.`,
    { suggestion: "Use the version of Holdfast that wrote it, or a newer one." },
  );
};

export const isNewestSchema = (db: Database): boolean => schemaOf(db) === STEPS.length;

/**
 * Migrates the database and returns the number of its schema. Throws STORE_FAILED for a newer schema, and STORE_CORRUPT for
 * another program's file.
 */
export const migrate = (db: Database): number => {
  const found = schemaOf(db);
  refuseNewer(found);
  if (db.pragma("application_id", { simple: true }) !== APPLICATION_ID && !isEmpty(db))
    throw new HoldfastError("STORE_CORRUPT", "The file is a database, but not an event log of Holdfast.", {
      suggestion: "Choose another HOLDFAST_HOME, or move the file away.",
    });
  if (found === STEPS.length) return found;
  db.transaction(() => {
    for (const step of STEPS.slice(found)) db.exec(step);
    crashPoint("migration");
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${STEPS.length}`);
  }).exclusive();
  return STEPS.length;
};
