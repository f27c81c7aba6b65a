/**
 * The index of words: a separate database beside the log, `holdfast.db.words`. It holds no text, only the words of records
 * and their seqs. Each search brings it up to the log by a cursor, so a daemon without searches pays nothing for it. It can
 * be deleted at any time: the next search creates it again.
 */
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { SEARCH_INDEX_SLICE_RECORDS, STORE_BUSY_MAX_MS } from "../../../base/limits.ts";
import { nameWord, textOf } from "../../search-words.ts";
import { BESIDE, openDatabase } from "../database.ts";

const indexFileOf = (file: string): string => `${file}.words`;

/** Increase this with every change of the schema or of `textOf`: an older index is replaced. */
const INDEX_VERSION = 1;
/** The page cache of a connection, in KiB. */
const CACHE_KIB = 2_048;

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
  CREATE VIRTUAL TABLE words USING fts5(text, worker, type, content='', contentless_delete=1, tokenize='unicode61', prefix='2 3 4');
  PRAGMA user_version = ${INDEX_VERSION};
`;

/** The history of the log that an index belongs to. */
export interface IndexedHistory {
  readonly store_id: string;
  readonly epoch: string;
}

interface IndexedRow {
  readonly seq: number;
  readonly type: string;
  readonly worker_id: string | null;
  readonly payload: string;
}

export const removeIndex = (file: string): void => {
  for (const suffix of ["", ...BESIDE]) rmSync(`${indexFileOf(file)}${suffix}`, { force: true });
};

export const hasIndex = (file: string): boolean => existsSync(indexFileOf(file));

const metaOf = (db: Database, key: string): string | number | undefined =>
  db.prepare<[string], string | number>("SELECT value FROM meta WHERE key = ?").pluck().get(key);

const setMeta = (db: Database, key: string, value: string | number): void =>
  void db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(key, value);

const openAsItIs = (path: string): Database => {
  closeSync(openSync(path, "a", 0o600));
  const db = openDatabase(path, { timeout: STORE_BUSY_MAX_MS });
  try {
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
};

/** Opens the index of this history. Creates it if it is missing, of another history, or of another version. */
export const openIndex = (file: string, history: IndexedHistory): Database => {
  const path = indexFileOf(file);
  const found = openAsItIs(path);
  try {
    const version = found.pragma("user_version", { simple: true });
    const isOurs =
      version === INDEX_VERSION &&
      metaOf(found, "store_id") === history.store_id &&
      metaOf(found, "epoch") === history.epoch;
    if (isOurs) return found;
  } catch (cause) {
    found.close();
    throw cause;
  }
  found.close();
  removeIndex(file);
  const made = openAsItIs(path);
  try {
    made.transaction(() => {
      made.exec(SCHEMA);
      setMeta(made, "store_id", history.store_id);
      setMeta(made, "epoch", history.epoch);
      setMeta(made, "indexed", 0);
      setMeta(made, "removed", 0);
    })();
    return made;
  } catch (cause) {
    made.close();
    throw cause;
  }
};

/** The seq up to which records are indexed. */
export const indexedTo = (index: Database): number => metaOf(index, "indexed") as number;

/** The time of the last search, in milliseconds since 1970; 0 if there was none. */
export const searchedAt = (index: Database): number =>
  (metaOf(index, "searched_at") as number | undefined) ?? 0;
export const noteSearch = (index: Database, at: number): void => setMeta(index, "searched_at", at);

const kindOf = (type: string, payload: unknown): string => {
  const { kind } = payload as { readonly kind?: unknown };
  return type === "agent.event" && typeof kind === "string" ? ` ${nameWord(kind)}` : "";
};

/** Indexes the records up to a seq, a slice per transaction. */
export const indexUpTo = (index: Database, log: Database, to: number): void => {
  const rows = log.prepare<[number, number], IndexedRow>(
    `SELECT seq, type, worker_id, payload FROM records WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${SEARCH_INDEX_SLICE_RECORDS}`,
  );
  const add = index.prepare("INSERT INTO words (rowid, text, worker, type) VALUES (?, ?, ?, ?)");
  const slice = index.transaction((from: number): number => {
    let [taken, last] = [0, from];
    for (const { seq, type, worker_id, payload } of rows.iterate(from, to)) {
      const said: unknown = JSON.parse(payload);
      const text = textOf(said);
      if (text !== "") add.run(seq, text, nameWord(worker_id ?? ""), nameWord(type) + kindOf(type, said));
      taken += 1;
      last = seq;
    }
    const next = taken < SEARCH_INDEX_SLICE_RECORDS ? to : last;
    setMeta(index, "indexed", next);
    return next;
  });
  for (let at = indexedTo(index); at < to; ) at = slice.immediate(at);
};

const REMOVED = "SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM removed";

/** Removes the words of records that retention has removed or replaced by a gap. */
export const forgetRemoved = (index: Database, log: Database): void => {
  const removed = log.prepare<[], number>(REMOVED).pluck().get() as number;
  if (removed === metaOf(index, "removed")) return;
  const slice = index
    .prepare<[number], number>(
      `SELECT id FROM words_docsize WHERE id > ? ORDER BY id LIMIT ${SEARCH_INDEX_SLICE_RECORDS}`,
    )
    .pluck();
  const isThere = log
    .prepare<[number], 1>("SELECT 1 FROM records WHERE seq = ? AND type <> 'log_gap'")
    .pluck();
  const forget = index.prepare("DELETE FROM words WHERE rowid = ?");
  const forgetAmong = index.transaction((seqs: readonly number[]) => {
    for (const seq of seqs) if (isThere.get(seq) !== 1) forget.run(seq);
  });
  for (let seqs = slice.all(0); seqs.length > 0; seqs = slice.all(seqs.at(-1)!)) forgetAmong.immediate(seqs);
  // Deleted words stay in the file until its parts are merged.
  index.exec("INSERT INTO words (words) VALUES ('optimize')");
  setMeta(index, "removed", removed);
};
