/**
 * Readers follow a cursor: first the log, then its live tail, without a gap or a repeat (architecture §4). A slow reader
 * costs nothing: no records are queued for it, it reads them from the log.
 */
import { Effect, Stream } from "effect";
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { type RecordFilter, streamsOf } from "../../store/event-log.ts";
import type { ReadableLog, Tail, Waiter } from "./tail.ts";

export interface LinePage {
  readonly lines: readonly string[];
  /** The seq of each line. */
  readonly seqs: readonly number[];
  /** The seq after this page. */
  readonly head: number;
}

export interface Follow {
  readonly from: number;
  readonly filter: RecordFilter;
  /** In its place, and asked before each page: a filter that grows. Its reader looks at every commit. */
  readonly filterNow?: (() => RecordFilter) | undefined;
  /** The last seq to read; undefined to go on with the live tail. */
  readonly until?: number;
  /** Called when everything is read: true ends the stream. */
  readonly isOver: () => boolean;
  /** True if nothing will be written any more: a waiting reader fails. */
  readonly isCut: () => boolean;
}

/**
 * Takes a page. Returns undefined if it has taken the page, `at_once` if it wants the next one before anything else is done,
 * `enough` if it wants no more, or a promise that resolves when it is ready for the next.
 */
export type TakePage = (page: LinePage) => Promise<void> | "at_once" | "enough" | undefined;

export interface FollowHandlers {
  /** Called when everything is read, with the cursor to go on from. */
  readonly onOver: (next: number) => void;
  readonly onFailure: (error: HoldfastError) => void;
}

/** The result of one read; `next` is the seq to go on from. */
type ReadOutcome =
  | { readonly type: "page"; readonly page: LinePage; readonly next: number }
  /** No match so far; there is more to read. */
  | { readonly type: "more"; readonly next: number }
  /** Everything is read; the next commit may bring more. */
  | { readonly type: "wait"; readonly next: number }
  | { readonly type: "over"; readonly next: number }
  | { readonly type: "cut"; readonly next: number };

const lookFrom = (log: ReadableLog, follow: Follow, from: number): ReadOutcome => {
  const until = follow.until ?? Number.POSITIVE_INFINITY;
  if (from >= until) return { type: "over", next: from };
  // Ask before reading: records written after the answer come with the next page.
  const over = follow.isOver();
  const cut = follow.isCut();
  const {
    lines: read,
    seqs,
    scanned,
  } = log.readLines(from, READ_PAGE_RECORDS, follow.filterNow?.() ?? follow.filter);
  const lines = scanned <= until ? read : read.filter((_, at) => (seqs[at] as number) <= until);
  const next = Math.min(scanned, until);
  if (lines.length > 0) return { type: "page", page: { lines, seqs, head: next }, next };
  if (next > from && next < log.head()) return { type: "more", next };
  return { type: over ? "over" : cut ? "cut" : "wait", next };
};

/**
 * One reader of the log: it gets page after page, then each commit, until it has all it wants. It is an object, not a
 * fiber, so that ten thousand can wait at the live tail. While it is busy with a page, nothing is read for it.
 */
export class Follower implements Waiter {
  readonly streams: readonly string[] | undefined;
  private readonly tail: Tail;
  private readonly follow: Follow;
  private readonly take: TakePage;
  private readonly followed: FollowHandlers;
  private cursor: number;
  private isStopped = false;

  constructor(tail: Tail, follow: Follow, take: TakePage, followed: FollowHandlers) {
    this.tail = tail;
    this.follow = follow;
    this.take = take;
    this.followed = followed;
    this.cursor = follow.from;
    // A follower that ends at a seq looks at every commit, so that it finds its end.
    const looksAtAll = follow.until !== undefined || follow.filterNow !== undefined;
    this.streams = looksAtAll ? undefined : streamsOf(follow.filter);
  }

  /** Reads from its cursor, or from `passed` if it has nothing to read before. */
  wake(passed = 0): void {
    this.cursor = Math.max(this.cursor, passed);
    try {
      this.goOn();
    } catch (cause) {
      this.fail(cause);
    }
  }

  /** Stops the reader. */
  stop(): void {
    this.isStopped = true;
    this.tail.leave(this);
  }

  private goOn(): void {
    while (!this.isStopped) {
      const found = lookFrom(this.tail.log, this.follow, this.cursor);
      this.cursor = found.next;
      if (found.type === "over") {
        this.end(found.next);
        return;
      }
      if (found.type === "cut") throw new HoldfastError("UNAVAILABLE", "The runtime was shut down.");
      if (found.type === "wait") {
        this.tail.wait(this);
        return;
      }
      const taken = found.type === "page" ? this.take(found.page) : undefined;
      if (taken === "enough") {
        this.end(found.next);
        return;
      }
      if (taken === "at_once") continue;
      if (taken !== undefined) {
        taken.then(
          () => this.wakeSoon(),
          (cause) => this.fail(cause),
        );
        return;
      }
      if (this.cursor < this.tail.log.head()) {
        this.wakeSoon();
        return;
      }
    }
  }

  /** Yields first: a reader that takes each page as soon as it comes would keep the event loop to itself. */
  private wakeSoon(): void {
    setImmediate(() => this.wake());
  }

  private end(next: number): void {
    this.stop();
    this.followed.onOver(next);
  }

  private fail(cause: unknown): void {
    if (this.isStopped) return;
    this.stop();
    this.followed.onFailure(asHoldfastError(cause));
  }
}

/** Hands over page after page. Returns the cursor to go on from. */
export const followed = (tail: Tail, follow: Follow, take: TakePage): Effect.Effect<number, HoldfastError> =>
  Effect.callback((resume) => {
    const follower = new Follower(tail, follow, take, {
      onOver: (next) => resume(Effect.succeed(next)),
      onFailure: (error) => resume(Effect.fail(error)),
    });
    follower.wake();
    return Effect.sync(() => follower.stop());
  });

/** As `followed`, for a reader that fetches each page: nothing is read before it asks. */
export const pages = (tail: Tail, follow: Follow): Stream.Stream<LinePage, HoldfastError> =>
  Stream.unfold(follow.from, (from: number) =>
    Effect.gen(function* () {
      let page: LinePage | undefined;
      const next = yield* followed(tail, { ...follow, from }, (found) => {
        page = found;
        return "enough";
      });
      // Yield: a reader that takes each page at once would keep the event loop to itself.
      if (next < tail.log.head()) yield* Effect.yieldNow;
      return page && ([page, next] as const);
    }),
  );
