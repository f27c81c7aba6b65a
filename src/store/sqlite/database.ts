/**
 * Opens files of SQLite: the database and the files that SQLite keeps beside it must be regular. SQLite itself would wait
 * for ever on a FIFO with one of these names.
 */
import { type Stats, statSync } from "node:fs";
import SQLite, { type Database } from "better-sqlite3";
import { statAt } from "../../base/files/regular-file.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** Suffixes of the files that SQLite keeps beside a database. It follows no links to them. */
export const BESIDE = ["-wal", "-shm", "-journal"] as const;

/** The first path beside a database that is no regular file. */
const irregularBeside = (file: string): string | undefined =>
  BESIDE.map((suffix) => `${file}${suffix}`).find((path) => statAt(path)?.isFile() === false);

/** The stats of the file; "nowhere" for a link that leads to itself, which cannot be opened. */
const statTarget = (file: string): Stats | "nowhere" | undefined => {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ELOOP") return "nowhere";
    throw cause;
  }
};

/**
 * Describes a file in place of the log, or beside it, that is not regular; undefined if all is well. SQLite itself refuses
 * a directory in place of the log. A link to the log is followed.
 */
export const irregularity = (file: string): string | undefined => {
  const stats = statTarget(file);
  if (stats === "nowhere" || (stats !== undefined && !stats.isFile() && !stats.isDirectory()))
    return `${file} is not a regular file, so it is not an event log.`;
  const spoilt = irregularBeside(file);
  return spoilt && `${spoilt} is not a regular file, so the event log beside it cannot be opened.`;
};

/** Throws STORE_CORRUPT for an irregular file. */
export const refuseIrregular = (file: string): void => {
  const problem = irregularity(file);
  if (problem === undefined) return;
  throw new HoldfastError("STORE_CORRUPT", problem, {
    suggestion: "Move it away. If it has replaced a file of which you have a copy, bring that back.",
  });
};

/**
 * SQLite plans a statement anew for each value that is bound behind `=` or LIMIT, because a plan may depend on a small number:
 * that takes longer than most of our reads. A plus before the parameter hides the value from the planner and changes nothing else.
 */
const plannedOnce = (sql: string): string => sql.replace(/(=|\bLIMIT) ?(?=[?@])/g, "$1 +");

/** Opens a database. Throws STORE_CORRUPT for an irregular file, and the errors of SQLite. */
export const openDatabase = (file: string, options?: SQLite.Options): Database => {
  refuseIrregular(file);
  const db = new SQLite(file, options);
  const prepare = db.prepare.bind(db);
  db.prepare = ((sql: string) => prepare(plannedOnce(sql))) as Database["prepare"];
  return db;
};
