/**
 * Carries out a search: brings the index of words up to the log, finds seqs in it, and reads their records from the log.
 */
import type { Database } from "better-sqlite3";
import {
  SEARCH_INDEX_KEPT_MS,
  SEARCH_INDEXED_INLINE_MAX_RECORDS,
  SEARCH_NOTED_MS,
} from "../../../base/limits.ts";
import type { LogRecord } from "../../../protocol/records.ts";
import type { FoundRecord, SearchPage, SearchQuery } from "../../search.ts";
import { excerptOf, textOf } from "../../search-words.ts";
import type { Offload } from "../offload.ts";
import { findSeqs } from "./find.ts";
import { withIndex } from "./indexing.ts";
import {
  hasIndex,
  type IndexedHistory,
  indexedTo,
  indexUpTo,
  noteSearch,
  removeIndex,
  searchedAt,
} from "./word-index.ts";

export interface SearchedLog {
  readonly file: string;
  readonly history: IndexedHistory;
  readonly head: () => number;
  /** The connection of the writer, for reads. */
  readonly db: () => Database;
  /** A record with its checksum verified; undefined if it does not exist. */
  readonly at: (seq: number) => LogRecord | undefined;
}

/** The searches of one log. The caller runs them one after another. */
export class Searches {
  private readonly log: SearchedLog;
  private readonly offload: Offload;
  private readonly now: () => number;

  constructor(log: SearchedLog, offload: Offload, now: () => number) {
    this.log = log;
    this.offload = offload;
    this.now = now;
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const head = this.log.head();
    const seqs = await withIndex(this.log, async (index) => {
      if (searchedAt(index) < this.now() - SEARCH_NOTED_MS) noteSearch(index, this.now());
      await this.follow(index, head);
      return findSeqs(index, query, head);
    });
    const found = seqs.slice(0, query.limit).flatMap((seq): readonly FoundRecord[] => {
      const record = this.log.at(seq);
      // Retention may have removed the record since.
      return record === undefined || record.type === "log_gap"
        ? []
        : [{ record, ...excerptOf(textOf(record.payload), query.text) }];
    });
    return { found, next: seqs.length > query.limit ? (seqs[query.limit - 1] ?? null) : null };
  }

  /** Called after a retention: removes the words of removed records, or the whole index if nobody uses it. */
  async tidy(): Promise<void> {
    const { file, history } = this.log;
    if (!hasIndex(file)) return;
    const isUnused = await withIndex(
      this.log,
      (index) => searchedAt(index) < this.now() - SEARCH_INDEX_KEPT_MS,
    );
    if (isUnused) removeIndex(file);
    else await this.offload.run("index", { file, history, to: this.log.head() });
  }

  /** Brings the index up to the log, in a thread if there are many new records. */
  private async follow(index: Database, head: number): Promise<void> {
    const { file, history } = this.log;
    if (head - indexedTo(index) <= SEARCH_INDEXED_INLINE_MAX_RECORDS) indexUpTo(index, this.log.db(), head);
    else await this.offload.run("index", { file, history, to: head });
  }
}
