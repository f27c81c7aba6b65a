/**
 * Readers follow a cursor: first what the log has, then its live tail, without a gap or a repeat (architecture §4).
 * A slow reader costs nothing: nobody keeps records for it, it reads them when it comes.
 */
import { Effect, Stream } from "effect";
import { HoldfastError } from "../protocol/errors.ts";
import { READ_PAGE_RECORDS } from "../protocol/limits.ts";
import type { EventLog, RecordFilter } from "../store/port.ts";
import { attempt } from "./attempt.ts";

export interface Page {
  readonly lines: readonly string[];
  /** The cursor after this page. */
  readonly head: number;
}

export interface Follow {
  readonly from: number;
  readonly filter: RecordFilter;
  /** The last seq that is wanted; undefined goes on with the live tail. */
  readonly until?: number;
  /** Asked when all is read: true ends the stream. */
  readonly isOver: () => boolean;
  /** Nothing will be written any more: who still waits is told so. */
  readonly isCut: () => boolean;
}

export const followLines = (log: EventLog, follow: Follow): Stream.Stream<Page, HoldfastError> =>
  Stream.unfold(follow.from, (cursor: number) => nextPage(log, follow, cursor));

const nextPage = (
  log: EventLog,
  follow: Follow,
  from: number,
): Effect.Effect<readonly [Page, number] | undefined, HoldfastError> =>
  Effect.gen(function* () {
    let cursor = from;
    const until = follow.until ?? Number.POSITIVE_INFINITY;
    for (;;) {
      if (cursor >= until) return undefined;
      // Asked before reading: what is written after the answer is read by the next page.
      const { over, cut } = yield* attempt(() => ({ over: follow.isOver(), cut: follow.isCut() }));
      const page = yield* attempt(() => log.readLines(cursor, READ_PAGE_RECORDS, follow.filter));
      const lines =
        page.scanned <= until ? page.lines : page.lines.filter((_, at) => (page.seqs[at] as number) <= until);
      if (lines.length > 0) return [{ lines, head: Math.min(page.scanned, until) }, page.scanned] as const;
      const advanced = page.scanned > cursor;
      cursor = page.scanned;
      if (advanced && cursor < log.head()) continue;
      if (over) return undefined;
      if (cut) return yield* Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime was shut down."));
      yield* newRecords(log, cursor);
    }
  });

export const newRecords = (log: EventLog, after: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (log.head() > after) return resume(Effect.void);
    const stop = log.onCommit(() => {
      stop();
      resume(Effect.void);
    });
    return Effect.sync(stop);
  });

/** The cursor before the newest `count` records that the filter wants, not going back over `since`. */
export const tailOf = (log: EventLog, filter: RecordFilter, since: number, count: number): number => {
  let newest: number[] = [];
  for (let cursor = since; cursor < log.head(); ) {
    const page = log.readLines(cursor, READ_PAGE_RECORDS, filter);
    newest = [...newest, ...page.seqs].slice(-Math.max(1, count));
    cursor = page.scanned;
  }
  if (count === 0 || newest.length === 0) return log.head();
  return (newest[0] as number) - 1;
};
