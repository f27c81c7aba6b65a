/** Reads the log page by page, one page in a turn of the event loop, so that a long read holds up nobody else. */
import { Effect } from "effect";
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { EventLog, RecordFilter } from "../../store/event-log.ts";
import { attempt } from "../machine/attempt.ts";

/** The part of the log that a reader of a range needs. */
type PagedLog = Pick<EventLog, "head" | "readLines">;
type Lines = ReturnType<EventLog["readLines"]>;

/** Reads the records after `from` up to `to` that match the filter, in order. */
export const eachPage = (
  log: PagedLog,
  { from, to }: { readonly from: number; readonly to: number },
  filter: RecordFilter,
  take: (page: Lines) => void,
): Effect.Effect<void, HoldfastError> => eachPageBy(attempt, log, { from, to }, filter, take);

/** As `eachPage`, with `read` to carry out each read of a page. */
export const eachPageBy = <E>(
  read: <A>(look: () => A) => Effect.Effect<A, E>,
  log: PagedLog,
  { from, to }: { readonly from: number; readonly to: number },
  filter: RecordFilter,
  take: (page: Lines) => void,
): Effect.Effect<void, E> =>
  Effect.gen(function* () {
    const end = Math.min(to, log.head());
    for (let cursor = from; cursor < end; ) {
      const page = yield* read(() => log.readLines(cursor, READ_PAGE_RECORDS, filter));
      take(upTo(page, end));
      cursor = page.scanned;
      if (cursor < end) yield* Effect.yieldNow;
    }
  });

const upTo = (page: Lines, end: number): Lines => {
  if (page.scanned <= end) return page;
  const count = page.seqs.filter((seq) => seq <= end).length;
  return { lines: page.lines.slice(0, count), seqs: page.seqs.slice(0, count), scanned: end };
};

/** The seqs of the newest `count` records after `since` that match, oldest first. */
export const newestSeqs = (
  log: PagedLog,
  filter: RecordFilter,
  { since, count }: { readonly since: number; readonly count: number },
  wants: (line: string) => boolean = () => true,
): Effect.Effect<readonly number[], HoldfastError> =>
  Effect.gen(function* () {
    let found: number[] = [];
    let to = log.head();
    // Search backwards from the end in ever longer ranges: wanted records are mostly among the last.
    for (let reach = READ_PAGE_RECORDS; found.length < count && to > since; reach *= 4) {
      const from = Math.max(since, to - reach);
      const here: number[] = [];
      yield* eachPage(log, { from, to }, filter, ({ lines, seqs }) => {
        seqs.forEach((seq, at) => {
          if (wants(lines[at] as string)) here.push(seq);
        });
        if (here.length > 2 * count) here.splice(0, here.length - count);
      });
      found = [...here, ...found].slice(-count);
      to = from;
      yield* Effect.yieldNow;
    }
    return found;
  });
