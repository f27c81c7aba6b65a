/**
 * Retention: output of ended incarnations that is old enough goes to an archive, then out of the log, then its pages back to
 * the disk. A thread gathers and compresses; what must go through the one writer goes in slices of a few milliseconds.
 *
 * The order is what a crash may interrupt: the archive is whole on disk, then the log knows it, then records are removed,
 * then it is done. An archive that is not done is taken up first.
 */
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { crashPoint } from "../base/crash-point.ts";
import { GC_PAUSE_MS, GC_SLICE_PAGES, RETENTION_SIZE_PART } from "../base/limits.ts";
import type { GcOptions, GcReport } from "./gc-report.ts";
import type { Offload } from "./offload.ts";
import type { Archive, Collected } from "./retention/collect.ts";
import { makeRemover, type Remover, type Run } from "./retention/remove.ts";

/** The loan of the log: its connection as it is at the moment. Throws when the log cannot be written now. */
export interface Lender {
  readonly file: string;
  readonly newId: () => string;
  /** Refuses where nothing may be written now. */
  db(): Database;
}

const number = (db: Database, pragma: string): number => db.pragma(pragma, { simple: true }) as number;

/** The bytes of records and tables, without the pages that are free. */
const usedBytes = (db: Database): number =>
  (number(db, "page_count") - number(db, "freelist_count")) * number(db, "page_size");

/** auto_vacuum = INCREMENTAL */
const givesBack = (db: Database): boolean => number(db, "auto_vacuum") === 2;

export const collectGarbage = async (
  log: Lender,
  offload: Offload,
  options: GcOptions,
): Promise<GcReport> => {
  const directory = join(dirname(log.file), "archive");
  const {
    before_ms,
    max_bytes = Number.POSITIVE_INFINITY,
    dry_run = false,
    archive: isArchived = true,
  } = options;
  let records = 0;
  const archives: string[] = [];

  let made: { readonly db: Database; readonly remover: Remover } | undefined;
  /** Its statements are made once a connection: made for each slice, throwing tens of thousands of them away held up the loop. */
  const remover = (): Remover => {
    const db = log.db();
    if (made?.db !== db) made = { db, remover: makeRemover(db, log.newId) };
    return made.remover;
  };

  const removeRuns = async (runs: readonly Run[], archive: string | null): Promise<void> => {
    for (const run of runs)
      for (let next = run.from_version; next <= run.to_version; ) {
        const slice = remover()(run, next, archive);
        ({ next } = slice);
        records += slice.removed;
        crashPoint("gc-mid-removal");
        await pause(GC_PAUSE_MS);
      }
  };

  const finish = (name: string): void => {
    crashPoint("gc-before-done");
    log.db().prepare("UPDATE archives SET done = 1 WHERE name = ?").run(name);
  };

  const takeUp = async (): Promise<void> => {
    const open = log.db().prepare("SELECT name, sha256 FROM archives WHERE done = 0").all() as Pick<
      Archive,
      "name" | "sha256"
    >[];
    for (const { name, sha256 } of open) {
      await removeRuns(await offload.run("runs", { path: join(directory, name), sha256 }), name);
      finish(name);
    }
  };

  const know = ({ name, from_seq, to_seq, records: held, bytes, sha256 }: Archive): void => {
    log
      .db()
      .prepare("INSERT INTO archives VALUES (?, ?, ?, ?, ?, ?, 0)")
      .run(name, from_seq, to_seq, held, bytes, sha256);
  };

  /** The disk gets nothing back from a database that was made before there was retention; new records use the pages. */
  const giveBack = async (): Promise<number> => {
    const before = number(log.db(), "page_count");
    const canGive = givesBack(log.db());
    while (canGive && number(log.db(), "freelist_count") > 0) {
      log.db().pragma(`incremental_vacuum(${GC_SLICE_PAGES})`);
      crashPoint("gc-mid-vacuum");
      await pause(GC_PAUSE_MS);
    }
    return (before - number(log.db(), "page_count")) * number(log.db(), "page_size");
  };

  /** One archive's worth of what was recorded before an instant; answers how much text, and where to go on. */
  const takeSome = async (instant: number, after: number, max_chars: number) => {
    const found: Collected = await offload.run("collect", {
      file: log.file,
      archives: isArchived ? directory : null,
      before_ms: instant,
      after_seq: after,
      max_chars,
      dry_run,
    });
    if (dry_run) records += found.records;
    else if (found.archive !== null) {
      crashPoint("gc-archived");
      know(found.archive);
      crashPoint("gc-known");
      await removeRuns(found.runs, found.archive.name);
      finish(found.archive.name);
      archives.push(found.archive.name);
    } else await removeRuns(found.runs, null);
    return found;
  };

  /** Answers the last of them, and how much text they are. */
  const takeOld = async (): Promise<Pick<Collected, "last" | "chars">> => {
    let [last, taken] = [0, 0];
    for (let after: number | null = 0; after !== null; ) {
      const found: Collected = await takeSome(before_ms, after, Number.POSITIVE_INFINITY);
      taken += found.chars;
      ({ last, next: after } = found);
    }
    return { last, chars: taken };
  };

  /** Text takes its own length in the database, or more: so much of it is enough, and little more is taken. */
  const takeExcess = async (old: Pick<Collected, "last" | "chars">): Promise<void> => {
    let counted = dry_run ? old.chars : 0;
    if (usedBytes(log.db()) - counted <= max_bytes) return;
    for (let after: number | null = dry_run ? old.last : 0; after !== null; ) {
      const excess = usedBytes(log.db()) - counted - max_bytes * RETENTION_SIZE_PART;
      if (excess <= 0) return;
      const { next, chars }: Collected = await takeSome(Number.MAX_SAFE_INTEGER, after, excess);
      if (dry_run) counted += chars;
      after = next;
    }
  };

  if (!dry_run) await takeUp();
  await takeExcess(await takeOld());
  const freed_bytes = dry_run ? 0 : await giveBack();
  const db = log.db();
  return {
    records,
    archives,
    freed_bytes,
    reusable_bytes: number(db, "freelist_count") * number(db, "page_size"),
    needs_vacuum: !givesBack(db),
  };
};
