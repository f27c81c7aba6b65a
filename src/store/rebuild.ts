/** Folds the projections again from the log, in one transaction: whoever looks sees the old ones or the new ones. */
import { rmSync } from "node:fs";
import SQLite, { type Database } from "better-sqlite3";
import { crashPoint } from "../protocol/crash-point.ts";
import { verifiedLine } from "./checksum.ts";
import { allRows } from "./pages.ts";
import { PROJECTION_VERSION, projections, resetProjections, TABLES } from "./projections/projection.ts";

/** Returns the number of records folded. Throws STORE_CORRUPT at the first damaged record and changes nothing then. */
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

/** The same in a file of its own, by a connection of its own; `swapIn` makes them the log's. */
export const foldInto = (
  file: string,
  into: string,
): { readonly records: number; readonly up_to: number } => {
  rmSync(into, { force: true });
  const source = new SQLite(file, { readonly: true });
  const folded = new SQLite(into);
  try {
    folded.pragma("journal_mode = OFF"); // thrown away where it is not finished
    resetProjections(folded);
    const projection = projections(folded);
    let [records, up_to] = [0, 0];
    folded.exec("BEGIN");
    for (const row of allRows(source)) {
      projection.fold(JSON.parse(verifiedLine(row)));
      records++;
      up_to = row[0];
    }
    projection.flush();
    folded.exec("COMMIT");
    return { records, up_to };
  } finally {
    source.close();
    folded.close();
  }
};

/** Takes over what `foldInto` has made, and folds what was recorded since, in one transaction. */
export const swapIn = (db: Database, from: string, upTo: number): number => {
  db.prepare("ATTACH ? AS folded").run(from);
  try {
    return db
      .transaction(() => {
        resetProjections(db);
        for (const table of TABLES) db.exec(`INSERT INTO main.${table} SELECT * FROM folded.${table}`);
        crashPoint("rebuild");
        const projection = projections(db);
        let records = 0;
        for (const row of allRows(db, upTo)) {
          projection.fold(JSON.parse(verifiedLine(row)));
          records++;
        }
        projection.flush();
        setVersion(db);
        return records;
      })
      .immediate();
  } finally {
    db.exec("DETACH folded");
  }
};

const setVersion = (db: Database): void => {
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('projection_version', ?)").run(
    PROJECTION_VERSION,
  );
};

/** True when the projections were made by this version's folds. */
export const projectionsAreCurrent = (db: Database): boolean =>
  db.prepare("SELECT value FROM meta WHERE key = 'projection_version'").pluck().get() === PROJECTION_VERSION;
