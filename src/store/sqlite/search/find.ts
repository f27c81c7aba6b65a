/** Finds records by the index of words, newest first, a slice of the log per turn of the event loop. */
import { setImmediate } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import {
  SEARCH_SLICE_MIN_RECORDS,
  SEARCH_SLICE_QUICK_MS,
  SEARCH_SLICE_RECORDS,
  SEARCH_SLICE_SLOW_MS,
} from "../../../base/limits.ts";
import type { SearchQuery } from "../../search.ts";
import { matchOf, nameWord } from "../../search-words.ts";

const anyOf = (column: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`{${column}} : (${names.map((name) => `"${nameWord(name)}"`).join(" OR ")})`];

/** The query for the index; undefined if the text has no words. */
const expressionOf = ({ text, worker_ids, types }: SearchQuery): string | undefined => {
  const words = matchOf(text, "text");
  if (words === undefined) return undefined;
  return [words, ...anyOf("worker", worker_ids), ...anyOf("type", types)].join(" AND ");
};

/** The size of the next slice: larger after a quick one, smaller after a slow one. */
const nextSize = (size: number, took_ms: number): number => {
  if (took_ms < SEARCH_SLICE_QUICK_MS) return size * 2;
  return took_ms > SEARCH_SLICE_SLOW_MS ? Math.max(SEARCH_SLICE_MIN_RECORDS, Math.round(size / 2)) : size;
};

/** The seqs of matching records, newest first, at most one more than `limit`. */
export const findSeqs = async (
  index: Database,
  query: SearchQuery,
  head: number,
): Promise<readonly number[]> => {
  const expression = expressionOf(query);
  if (expression === undefined) return [];
  const find = index
    .prepare<[string, number, number, number], number>(
      "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
    )
    .pluck();
  const seqs: number[] = [];
  let size = SEARCH_SLICE_RECORDS;
  for (let to = Math.min(head, query.before - 1); to > query.after && seqs.length <= query.limit; ) {
    const from = Math.max(query.after + 1, to - size + 1);
    const begun = performance.now();
    seqs.push(...find.all(expression, from, to, query.limit + 1 - seqs.length));
    size = nextSize(size, performance.now() - begun);
    to = from - 1;
    if (to > query.after && seqs.length <= query.limit) await setImmediate();
  }
  return seqs;
};
