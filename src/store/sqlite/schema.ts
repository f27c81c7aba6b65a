/**
 * Compares the definitions of tables and indexes in the file with those of this version: a flipped bit in a definition
 * leaves every row intact, but no query works.
 */
import SQLite, { type Database } from "better-sqlite3";
import { migrate } from "./migrations/migrate.ts";
import { resetProjections } from "./projections/projection.ts";

const schemaOf = (db: Database): ReadonlyMap<string, string | null> =>
  new Map(
    db.prepare<[], [string, string | null]>("SELECT name, sql FROM sqlite_schema").raw().all() as [
      string,
      string | null,
    ][],
  );

/** The definitions that `make` creates, computed once. */
const madeBy = (make: (db: Database) => unknown): (() => ReadonlyMap<string, string | null>) => {
  let made: ReadonlyMap<string, string | null> | undefined;
  return () => {
    if (made !== undefined) return made;
    const db = new SQLite(":memory:");
    try {
      make(db);
      made = schemaOf(db);
      return made;
    } finally {
      db.close();
    }
  };
};

const logSchema = madeBy(migrate);
const projectionSchema = madeBy(resetProjections);

const otherThan = (expected: ReadonlyMap<string, string | null>, db: Database): readonly string[] => {
  const found = schemaOf(db);
  return [...expected].flatMap(([name, sql]) => (found.get(name) === sql ? [] : [name]));
};

/** Tables and indexes of this version's log schema that are missing or differ. */
export const spoiltLogTables = (db: Database): readonly string[] => otherThan(logSchema(), db);

/** As `spoiltLogTables`, for the projections. */
export const spoiltProjectionTables = (db: Database): readonly string[] => otherThan(projectionSchema(), db);
