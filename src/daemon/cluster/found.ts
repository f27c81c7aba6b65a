/** A search of what other nodes have copied: the database chooses records that are like the words, and the words decide here. */
import { setImmediate } from "node:timers/promises";
import {
  CLUSTER_SEARCH_CHOSEN_MAX,
  CLUSTER_SEARCH_CHOSEN_MAX_CHARS,
  CLUSTER_SEARCH_SLICE_RECORDS,
  CLUSTER_SEARCH_WORD_MAX_CHARS,
} from "../../base/limits.ts";
import type { Copies, FoundRow } from "../../cluster/postgres/copies.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { ElsewhereHit, ElsewhereHits } from "../../protocol/replies/cluster.ts";
import type { RequestData } from "../../protocol/requests.ts";
import { hitOf } from "../../runtime/reading/search.ts";
import { excerptOf, hasAll, textOf, wordsOfSearch } from "../../store/search-words.ts";

export const foundElsewhere = async (
  copies: Pick<Copies, "found">,
  self: string,
  { text, workers, types, since_ms, limit }: RequestData<"cluster/search">,
): Promise<ElsewhereHits> => {
  const rows = await copies.found({ self, workers, like: wordsOfSearch(text).map(likeWord) });
  const oldest = since_ms === undefined ? 0 : Date.now() - since_ms;
  const isWanted = ({ worker_name }: FoundRow, record: LogRecord): boolean => {
    const { worker_id = "", type, recorded_at } = record;
    const isOf = (names: readonly string[], ...own: readonly string[]): boolean =>
      names.length === 0 || own.some((name) => names.includes(name));
    const kind = type === "agent.event" ? record.payload.kind : type;
    const isRecent = Date.parse(recorded_at) >= oldest;
    return isRecent && isOf(workers, worker_id, worker_name ?? "") && isOf(types, type, kind);
  };
  const hits: ElsewhereHit[] = [];
  for (const [at, row] of rows.entries()) {
    if (at % CLUSTER_SEARCH_SLICE_RECORDS === 0) await setImmediate();
    const record: LogRecord = JSON.parse(row.text);
    const words = textOf(record.payload);
    if (!isWanted(row, record) || !hasAll(words, text)) continue;
    const { node, node_state, worker_name } = row;
    hits.push({ ...hitOf({ record, ...excerptOf(words, text) }, worker_name), node, node_state });
  }
  const chars = rows.reduce((sum, row) => sum + row.text.length, 0);
  const isWhole = rows.length < CLUSTER_SEARCH_CHOSEN_MAX && chars < CLUSTER_SEARCH_CHOSEN_MAX_CHARS;
  return { hits: hits.slice(0, limit), more: !isWhole || hits.length > limit };
};

/**
 * A regular expression of the database that each form of a word matches, and other words too: a letter with an accent is some sign that
 * is not ASCII, or a letter before one.
 */
const likeWord = (word: string): string =>
  [...word]
    .slice(0, CLUSTER_SEARCH_WORD_MAX_CHARS)
    .map((letter) => (/[a-z0-9]/.test(letter) ? `(${letter}|[^ -~])[^ -~]*` : "[^ -~]*"))
    .join("");
