/**
 * Readers follow a cursor: first what the log has, then its live tail, without a gap or a repeat (architecture §4).
 * A slow reader costs nothing: nobody keeps records for it, it reads them when it comes.
 */
import { Effect, Stream } from "effect";
import { newestSeqs } from "../../actors/intake/paging.ts";
import { attempt } from "../../actors/machine/attempt.ts";
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import { breakSentence, cursorOf, type From, partsOf } from "../../protocol/cursor.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isOfHistory } from "../../store/epoch.ts";
import type { EventLog, RecordFilter } from "../../store/port.ts";

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

/**
 * Nobody was ever told of a record that the log has not got, unless the log was longer once: a backup was copied back, or a
 * power loss took its end. To wait there would pass over what is recorded meanwhile.
 */
const refuseFuture = (log: EventLog, from: number): void => {
  const head = log.head();
  if (from <= head) return;
  throw new HoldfastError(
    "CURSOR_UNKNOWN",
    `The log ends at record ${head}, and ${from} is after it: the cursor is of another log, or this one is an older copy.`,
    {
      suggestion: `To go on from the end of this log: \`--from ${head}\`; to read all of it: \`--from 0\`.`,
      details: { from, head },
    },
  );
};

/** After a restore the same seqs name other records: whoever has read of the history before must not go on in this one unawares. */
const refuseOther = (log: EventLog, epoch: string, from: number): void => {
  if (isOfHistory(log, epoch, from)) return;
  const ended = log.former.find((one) => one.epoch === epoch);
  throw new HoldfastError(
    "CURSOR_UNKNOWN",
    ended === undefined
      ? `The cursor ${epoch}:${from} is of another log, or of a history that this one does not know: its epoch is ${log.epoch}.`
      : `The cursor is at record ${from} of a history that ended at record ${ended.up_to}. ${breakSentence(ended)}`,
    {
      suggestion:
        ended === undefined
          ? "To read all of this log: `--from 0`."
          : `To go on where this log differs from what you have read: \`--from ${cursorOf(log.epoch, ended.up_to)}\`; to read all of it: \`--from 0\`.`,
      details: { from, epoch, log_epoch: log.epoch, head: log.head(), up_to: ended?.up_to ?? null },
    },
  );
};

/** The seq that a reader goes on after. Throws CURSOR_UNKNOWN where the log has not got what it names. */
export const seqOf = (log: EventLog, from: From): number => {
  const { epoch, seq } = partsOf(from);
  if (!Number.isSafeInteger(seq) || seq < 0)
    throw new HoldfastError("INVALID_REQUEST", "The place to read from is neither a seq nor a cursor.", {
      suggestion: "Give the `seq` of a record (0 is the beginning), or a cursor `EPOCH:SEQ`.",
    });
  if (epoch !== undefined) refuseOther(log, epoch, seq);
  refuseFuture(log, seq);
  return seq;
};

/** The records after a cursor; `next` is the cursor after it. */
export type Look =
  | { readonly type: "page"; readonly page: Page; readonly next: number }
  /** Nothing so far that is wanted, and there is more to look at. */
  | { readonly type: "more"; readonly next: number }
  /** The next commit may bring something. */
  | { readonly type: "wait"; readonly next: number }
  | { readonly type: "over"; readonly next: number }
  | { readonly type: "cut"; readonly next: number };

export const lookFrom = (log: EventLog, follow: Follow, from: number): Look => {
  const until = follow.until ?? Number.POSITIVE_INFINITY;
  if (from >= until) return { type: "over", next: from };
  // Asked before reading: what is written after the answer is read by the next page.
  const over = follow.isOver();
  const cut = follow.isCut();
  const { lines: read, seqs, scanned } = log.readLines(from, READ_PAGE_RECORDS, follow.filter);
  const lines = scanned <= until ? read : read.filter((_, at) => (seqs[at] as number) <= until);
  const next = Math.min(scanned, until);
  if (lines.length > 0) return { type: "page", page: { lines, head: next }, next };
  if (next > from && next < log.head()) return { type: "more", next };
  return { type: over ? "over" : cut ? "cut" : "wait", next };
};

const nextPage = (
  log: EventLog,
  follow: Follow,
  from: number,
): Effect.Effect<readonly [Page, number] | undefined, HoldfastError> =>
  Effect.gen(function* () {
    for (let cursor = from; ; ) {
      const found = yield* attempt(() => lookFrom(log, follow, cursor));
      cursor = found.next;
      // A reader that takes a page at once, or wants none of it, would keep the event loop to itself.
      if ((found.type === "page" || found.type === "more") && cursor < log.head()) yield* Effect.yieldNow;
      if (found.type === "page") return [found.page, cursor] as const;
      if (found.type === "over") return undefined;
      if (found.type === "cut")
        return yield* Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime was shut down."));
      if (found.type === "wait") yield* newRecords(log, cursor);
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
export const tailOf = (
  log: EventLog,
  filter: RecordFilter,
  since: number,
  count: number,
): Effect.Effect<number, HoldfastError> => {
  const head = log.head();
  return Effect.map(newestSeqs(log, filter, { since, count }), ([oldest]) =>
    oldest === undefined ? head : oldest - 1,
  );
};
