/** Folds the projections again from the log in one transaction: a reader sees the old ones or the new ones. */
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../base/crash-point.ts";
import { verifiedLine } from "./checksum.ts";
import { allRows } from "./pages.ts";
import { PROJECTION_VERSION, projections, resetProjections } from "./projections/projection.ts";
import { spoiltProjectionTables } from "./schema.ts";

/**
 * Rebuilds the projections and returns the number of folded records. At the first damaged record it throws STORE_CORRUPT
 * and has changed nothing.
 */
export const rebuild = (db: Database): number =>
  db
    .transaction(() => {
      resetProjections(db);
      const projection = projections(db);
      let records = 0;
      for (const row of allRows(db)) {
        projection.fold(JSON.parse(verifiedLine(row)));
        records++;
        crashPoint("rebuild");
      }
      projection.flush();
      setVersion(db);
      return records;
    })
    .immediate();

const setVersion = (db: Database): void => {
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('projection_version', ?)").run(
    PROJECTION_VERSION,
  );
};

/** True if this version's folds made the projections. */
export const projectionsAreCurrent = (db: Database): boolean =>
  db.prepare("SELECT value FROM meta WHERE key = 'projection_version'").pluck().get() === PROJECTION_VERSION;

/** True if, in addition, the definitions of their tables are unchanged. */
export const projectionsAreSound = (db: Database): boolean =>
  projectionsAreCurrent(db) && spoiltProjectionTables(db).length === 0;
