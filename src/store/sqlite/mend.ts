/**
 * A rebuild in a running daemon. A thread folds the log into a separate file and reports which streams' rows differ from the
 * log's tables. Only those are corrected, a few in each transaction, so that no turn of the event loop is long, however many
 * workers there are. Each row of a projection belongs to one stream, so each stream can be corrected by itself.
 */
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../base/crash-point.ts";
import { GC_PAUSE_MS, MEND_SLICE_STREAMS, READ_PAGE_RECORDS } from "../../base/limits.ts";
import { type Row, verifiedLine } from "./checksum.ts";
import { openDatabase } from "./database.ts";
import { allRows, pagesOf } from "./pages.ts";
import { projections, resetProjections, TABLES } from "./projections/projection.ts";
import { STREAM_COLUMNS } from "./stream-columns.ts";

export interface FoldReport {
  readonly records: number;
  /** The seq up to which the thread has folded. */
  readonly up_to: number;
  /** Streams whose rows in the log's tables differ. */
  readonly differing: readonly string[];
}

const differingIn = (db: Database): readonly string[] => {
  const found = new Set<string>();
  for (const table of TABLES) {
    const { column, streamOf } = STREAM_COLUMNS[table];
    const only = (one: string, other: string) =>
      `SELECT ${column} FROM (SELECT * FROM ${one}.${table} EXCEPT SELECT * FROM ${other}.${table})`;
    const keys = db.prepare<[], string>(`${only("main", "folded")} UNION ${only("folded", "main")}`).pluck();
    for (const key of keys.iterate()) found.add(streamOf(key));
  }
  return [...found];
};

const openFolded = (path: string): Database => {
  const folded = openDatabase(path);
  folded.pragma("journal_mode = OFF"); // an unfinished file is dropped
  folded.pragma("synchronous = OFF");
  return folded;
};

/** Runs in the thread. Folds most of the log while it grows; the rest is folded and compared in one snapshot of the log. */
export const foldInto = (file: string, into: string): FoldReport => {
  rmSync(into, { force: true });
  const source = openDatabase(file, { readonly: true });
  const folded = openFolded(into);
  try {
    resetProjections(folded);
    const projection = projections(folded);
    let [records, up_to] = [0, 0];
    const goOn = folded.transaction(() => {
      for (const row of allRows(source, up_to)) {
        projection.fold(JSON.parse(verifiedLine(row)));
        records++;
        up_to = row[0];
      }
      projection.flush();
    });
    goOn();
    source.prepare("ATTACH ? AS folded").run(into);
    const differing = source.transaction(() => {
      goOn();
      return differingIn(source);
    })();
    return { records, up_to, differing };
  } finally {
    source.close();
    folded.close();
  }
};

/** Corrects some streams. `later`: all records since the fold, less than a page. */
const mendSome = (db: Database, from: string, streams: readonly string[], later: readonly Row[]): void => {
  db.prepare("ATTACH ? AS folded").run(from);
  try {
    db.transaction(() => {
      const mended = new Set(streams);
      for (const table of TABLES) {
        const { column, streamOf } = STREAM_COLUMNS[table];
        const prefix = streamOf("");
        const drop = db.prepare(`DELETE FROM main.${table} WHERE ${column} = ?`);
        const take = db.prepare(
          `INSERT INTO main.${table} SELECT * FROM folded.${table} WHERE ${column} = ?`,
        );
        for (const stream of mended) {
          if (!stream.startsWith(prefix)) continue;
          const key = stream.slice(prefix.length);
          drop.run(key);
          take.run(key);
        }
      }
      crashPoint("rebuild");
      const projection = projections(db);
      for (const row of later) if (mended.has(row[2])) projection.fold(JSON.parse(verifiedLine(row)));
      projection.flush();
    }).immediate();
  } finally {
    db.exec("DETACH folded");
  }
};

/** Corrects all differing streams in slices. `db` lends the current connection, and throws if nothing can be written. */
export const mend = async (
  db: () => Database,
  from: string,
  { differing, up_to }: FoldReport,
): Promise<void> => {
  crashPoint("rebuild");
  const folded = openFolded(from);
  try {
    const projection = projections(folded);
    const goOn = folded.transaction((rows: readonly Row[]) => {
      for (const row of rows) projection.fold(JSON.parse(verifiedLine(row)));
      projection.flush();
    });
    let after = up_to;
    for (let at = 0; at < differing.length; await pause(GC_PAUSE_MS)) {
      const lent = db();
      const later = pagesOf(lent)(after);
      if (later.length === READ_PAGE_RECORDS) {
        // During a flood, fold a page in each turn until less than a page is left for a slice.
        goOn(later);
        after = later.at(-1)![0];
        continue;
      }
      mendSome(lent, from, differing.slice(at, at + MEND_SLICE_STREAMS), later);
      at += MEND_SLICE_STREAMS;
    }
  } finally {
    folded.close();
  }
};
