/**
 * Retention: moves old output of ended incarnations, and the records of what was settled long ago, to an archive, removes it from the log, and returns its pages to the
 * disk. A thread gathers and compresses. Work on the only writer is done in slices of a few milliseconds.
 *
 * A crash may interrupt it after each step: the archive is complete on the disk, the log knows it, the records are removed,
 * the archive is marked as done. The next collection first finishes an archive that is not done.
 */
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { crashPoint } from "../../base/crash-point.ts";
import { GC_PAUSE_MS, GC_SLICE_PAGES, RETENTION_SIZE_PART } from "../../base/limits.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { GcOptions, GcReport } from "../gc-report.ts";
import type { Offload } from "./offload.ts";
import type { Archive, CollectionResult } from "./retention/collect.ts";
import { makeRemover, type OutputRange, type Remover } from "./retention/remove.ts";
import { scheduleSums } from "./retention/settled.ts";

/** Access to the log's current connection. Throws if the log cannot be written now. */
export interface LogAccess {
  readonly file: string;
  readonly newId: () => string;
  /** Throws if the log cannot be written now. */
  db(): Database;
  append(drafts: readonly RecordDraft[]): void;
}

const number = (db: Database, pragma: string): number => db.pragma(pragma, { simple: true }) as number;

/** Bytes of records and tables, without free pages. */
const usedBytes = (db: Database): number =>
  (number(db, "page_count") - number(db, "freelist_count")) * number(db, "page_size");

/** auto_vacuum = INCREMENTAL */
const givesBack = (db: Database): boolean => number(db, "auto_vacuum") === 2;

export const collectGarbage = (log: LogAccess, offload: Offload, options: GcOptions): Promise<GcReport> =>
  new Collection(log, offload, options).run();

class Collection {
  private readonly log: LogAccess;
  private readonly offload: Offload;
  private readonly directory: string;
  private readonly options: GcOptions;
  private records = 0;
  private settled = 0;
  private readonly archives: string[] = [];
  private made: { readonly db: Database; readonly remover: Remover } | undefined;

  constructor(log: LogAccess, offload: Offload, options: GcOptions) {
    this.log = log;
    this.offload = offload;
    this.directory = join(dirname(log.file), "archive");
    this.options = options;
  }

  async run(): Promise<GcReport> {
    const { dry_run } = this.options;
    if (!dry_run) {
      await this.takeUp();
      this.sumUp();
    }
    await this.takeExcess(await this.takeOld());
    const freed_bytes = dry_run ? 0 : await this.giveBack();
    const db = this.log.db();
    return {
      records: this.records,
      settled_records: this.settled,
      archives: this.archives,
      freed_bytes,
      reusable_bytes: number(db, "freelist_count") * number(db, "page_size"),
      needs_vacuum: !givesBack(db),
    };
  }

  /**
   * The remover of the current connection. Its statements are prepared once: dropping tens of thousands of them, made for
   * each slice, held up the event loop.
   */
  private remover(): Remover {
    const db = this.log.db();
    if (this.made?.db !== db) this.made = { db, remover: makeRemover(db, this.log.newId) };
    return this.made.remover;
  }

  private async removeRuns(runs: readonly OutputRange[], archive: string | null): Promise<void> {
    for (const run of runs)
      for (let next = run.from_version; next <= run.to_version; ) {
        const slice = this.remover()(run, next, archive);
        ({ next } = slice);
        this.records += slice.removed;
        crashPoint("gc-mid-removal");
        await pause(GC_PAUSE_MS);
      }
  }

  private finish(name: string): void {
    crashPoint("gc-before-done");
    this.log.db().prepare("UPDATE archives SET done = 1 WHERE name = ?").run(name);
  }

  private sumUp(): void {
    const sums = scheduleSums(this.log.db(), this.options.before_ms);
    if (sums.length > 0) this.log.append(sums);
  }

  private async takeUp(): Promise<void> {
    const open = this.log.db().prepare("SELECT name, sha256 FROM archives WHERE done = 0").all() as Pick<
      Archive,
      "name" | "sha256"
    >[];
    for (const { name, sha256 } of open) {
      const path = join(this.directory, name);
      await this.removeRuns(await this.offload.run("runs", { path, sha256 }), name);
      this.finish(name);
    }
  }

  private know({ name, from_seq, to_seq, records: held, bytes, sha256 }: Archive): void {
    this.log
      .db()
      .prepare("INSERT INTO archives VALUES (?, ?, ?, ?, ?, ?, 0)")
      .run(name, from_seq, to_seq, held, bytes, sha256);
  }

  /** Returns free pages to the disk. A database from before there was retention cannot return any; new records use them. */
  private async giveBack(): Promise<number> {
    const { log } = this;
    const before = number(log.db(), "page_count");
    const canGive = givesBack(log.db());
    while (canGive && number(log.db(), "freelist_count") > 0) {
      log.db().pragma(`incremental_vacuum(${GC_SLICE_PAGES})`);
      crashPoint("gc-mid-vacuum");
      await pause(GC_PAUSE_MS);
    }
    return (before - number(log.db(), "page_count")) * number(log.db(), "page_size");
  }

  /** Removes at most one archive of records from before an instant. Returns the size of their text and where to go on. */
  private async takeSome(instant: number, after: number, max_chars: number): Promise<CollectionResult> {
    const { dry_run = false, archive = true } = this.options;
    const found: CollectionResult = await this.offload.run("collect", {
      file: this.log.file,
      archives: archive ? this.directory : null,
      before_ms: instant,
      after_seq: after,
      max_chars,
      dry_run,
    });
    this.settled += found.settled;
    if (dry_run) this.records += found.records;
    else if (found.archive !== null) {
      crashPoint("gc-archived");
      this.know(found.archive);
      crashPoint("gc-known");
      await this.removeRuns(found.runs, found.archive.name);
      this.finish(found.archive.name);
      this.archives.push(found.archive.name);
    } else await this.removeRuns(found.runs, null);
    return found;
  }

  /** Removes all old records. Returns the last seq and the size of their text. */
  private async takeOld(): Promise<Pick<CollectionResult, "last" | "chars">> {
    let [last, taken] = [0, 0];
    for (let after: number | null = 0; after !== null; ) {
      const found: CollectionResult = await this.takeSome(
        this.options.before_ms,
        after,
        Number.POSITIVE_INFINITY,
      );
      taken += found.chars;
      ({ last, next: after } = found);
    }
    return { last, chars: taken };
  }

  /**
   * Removes the oldest records until the log is small enough. Text takes at least its own length in the database, so this
   * removes enough, and little more.
   */
  private async takeExcess(old: Pick<CollectionResult, "last" | "chars">): Promise<void> {
    const { log } = this;
    const { dry_run, max_bytes = Number.POSITIVE_INFINITY } = this.options;
    let counted = dry_run ? old.chars : 0;
    if (usedBytes(log.db()) - counted <= max_bytes) return;
    for (let after: number | null = dry_run ? old.last : 0; after !== null; ) {
      const excess = usedBytes(log.db()) - counted - max_bytes * RETENTION_SIZE_PART;
      if (excess <= 0) return;
      const { next, chars }: CollectionResult = await this.takeSome(Number.MAX_SAFE_INTEGER, after, excess);
      if (dry_run) counted += chars;
      after = next;
    }
  }
}
