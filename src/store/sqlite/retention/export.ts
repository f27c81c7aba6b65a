/**
 * The whole log as NDJSON, with archived records in their places. Read on a separate connection, a page at a time, so that
 * it holds up no writer. If an archive is missing, its gap records are printed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import type { Heartbeat } from "../../views.ts";
import { verifiedLine } from "../checksum.ts";
import { openDatabase } from "../database.ts";
import { allHeartbeats } from "../heartbeats.ts";
import { allRows } from "../pages.ts";
import { type Archive, readArchive } from "./collect.ts";
import { hasRetention } from "./removed.ts";

interface ArchiveLine {
  readonly seq: number;
  readonly line: string;
}

const SEQ = /^\{"seq":(\d+),/;

/** The lines of all archives that overlap the range, in the order of seq. Each archive is read when its turn comes. */
function* archived(db: Database, directory: string, from: number, to: number): Generator<ArchiveLine> {
  const waiting = (
    db
      .prepare("SELECT * FROM archives WHERE to_seq >= ? AND from_seq <= ? ORDER BY from_seq")
      .all(from, to) as Archive[]
  ).filter(({ name }) => existsSync(join(directory, name)));
  const active: { readonly lines: readonly string[]; at: number; seq: number }[] = [];
  const advance = (one: (typeof active)[number]): void => {
    const line = one.lines[++one.at];
    if (line === undefined) active.splice(active.indexOf(one), 1);
    else one.seq = Number(SEQ.exec(line)?.[1]);
  };
  for (;;) {
    const nearest = active.reduce((least, { seq }) => Math.min(least, seq), Number.POSITIVE_INFINITY);
    const [next] = waiting;
    if (next !== undefined && next.from_seq <= nearest) {
      waiting.shift();
      const opened = { lines: readArchive(join(directory, next.name), next.sha256), at: -1, seq: 0 };
      active.push(opened);
      advance(opened);
      continue;
    }
    const one = active.find(({ seq }) => seq === nearest);
    if (one === undefined || one.seq > to) return;
    if (one.seq >= from) yield { seq: one.seq, line: one.lines[one.at]! };
    advance(one);
  }
}

/** The newest heartbeat of each worker, in the order of their ids. */
export const exportHeartbeats = (file: string): readonly Heartbeat[] => {
  if (!existsSync(file)) return [];
  const db = openDatabase(file, { readonly: true });
  try {
    return allHeartbeats(db);
  } finally {
    db.close();
  }
};

function* none(): Generator<ArchiveLine> {}

/** Exports records `from` to `to`, both included. Throws STORE_CORRUPT at the first damaged one. */
export function* exportLines(file: string, directory: string, from: number, to: number): Generator<string> {
  if (!existsSync(file)) return;
  const db = openDatabase(file, { readonly: true });
  try {
    const old = hasRetention(db) ? archived(db, directory, from, to) : none();
    let next = old.next();
    for (const row of allRows(db, from - 1)) {
      const [seq] = row;
      if (seq > to) break;
      for (; !next.done && next.value.seq < seq; next = old.next()) yield next.value.line;
      if (!next.done && next.value.seq === seq) {
        yield next.value.line; // in place of its gap, or of the record itself
        next = old.next();
      } else yield verifiedLine(row);
    }
    for (; !next.done; next = old.next()) yield next.value.line;
  } finally {
    db.close();
  }
}
