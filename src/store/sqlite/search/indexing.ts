/**
 * Works on the index of words, in a thread or on the event loop. A failure of the index is not a failure of the log: a
 * damaged index is replaced.
 */
import type { Database } from "better-sqlite3";
import { HoldfastError } from "../../../protocol/errors.ts";
import { openDatabase } from "../database.ts";
import { storeError } from "../failure.ts";
import { forgetRemoved, type IndexedHistory, indexUpTo, openIndex, removeIndex } from "./word-index.ts";

export interface Indexing {
  readonly file: string;
  readonly history: IndexedHistory;
  readonly to: number;
}

const isDamaged = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(String(cause.code));

const indexError = (cause: unknown): HoldfastError => {
  if (cause instanceof HoldfastError) return cause;
  const { code, message } = storeError(cause);
  return new HoldfastError(
    code === "STORE_CORRUPT" ? "STORE_FAILED" : code,
    `The index of words cannot be used: ${message}`,
    {
      cause,
      suggestion:
        "Free space in the state directory, or delete holdfast.db.words there; the next search makes it anew.",
    },
  );
};

/** Does a piece of work on the index. If the index is damaged, does it once more on a new one. */
export const withIndex = async <A>(
  { file, history }: Pick<Indexing, "file" | "history">,
  work: (index: Database) => A | Promise<A>,
): Promise<A> => {
  const attempt = async () => {
    const index = openIndex(file, history);
    try {
      return await work(index);
    } finally {
      index.close();
    }
  };
  try {
    return await attempt().catch((cause) => {
      if (!isDamaged(cause)) throw cause;
      removeIndex(file);
      return attempt();
    });
  } catch (cause) {
    throw indexError(cause);
  }
};

/** Runs in the thread, with separate connections to both databases: brings the index up to the log. */
export const bringUp = (asked: Indexing): Promise<null> =>
  withIndex(asked, (index) => {
    const log = openDatabase(asked.file, { readonly: true });
    try {
      indexUpTo(index, log, asked.to);
      forgetRemoved(index, log);
    } finally {
      log.close();
    }
    return null;
  });
