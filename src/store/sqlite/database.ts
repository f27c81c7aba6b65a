/**
 * How a file of SQLite is opened: the database and what SQLite keeps beside it are regular files. SQLite itself would wait for ever in a
 * FIFO that has one of these names.
 */
import { type Stats, statSync } from "node:fs";
import SQLite, { type Database } from "better-sqlite3";
import { statAt } from "../../base/files/regular-file.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** By SQLite, which follows no link to one of them. */
export const BESIDE = ["-wal", "-shm", "-journal"] as const;

/** The first of the names beside a database under which lies no regular file. */
const irregularBeside = (file: string): string | undefined =>
  BESIDE.map((suffix) => `${file}${suffix}`).find((path) => statAt(path)?.isFile() === false);

/** The link that is there leads to itself: nobody can open it. */
const statTarget = (file: string): Stats | "nowhere" | undefined => {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ELOOP") return "nowhere";
    throw cause;
  }
};

/**
 * Says what lies in the place of the log, or of a file beside it, and is no regular file; undefined where all is as it should be. A directory in
 * the place of the log SQLite refuses itself. A link to the log is followed.
 */
export const irregularity = (file: string): string | undefined => {
  const stats = statTarget(file);
  if (stats === "nowhere" || (stats !== undefined && !stats.isFile() && !stats.isDirectory()))
    return `${file} is no regular file, so it is no event log.`;
  const spoilt = irregularBeside(file);
  return spoilt && `${spoilt} is no regular file, so the event log beside it cannot be opened.`;
};

/** Fails with STORE_CORRUPT. */
export const refuseIrregular = (file: string): void => {
  const problem = irregularity(file);
  if (problem === undefined) return;
  throw new HoldfastError("STORE_CORRUPT", problem, {
    suggestion: "Move it away; where it has replaced a file that you have a copy of, bring that back.",
  });
};

/** Throws STORE_CORRUPT where it is no file, and the errors of SQLite. */
export const openDatabase = (file: string, options?: SQLite.Options): Database => {
  refuseIrregular(file);
  return new SQLite(file, options);
};
