/**
 * Wakes the readers that wait at the end of the log for a commit that may concern them, in slices of time, so that ten
 * thousand watchers do not hold up supervision. A reader costs an entry in a set, no fiber and no listener of its own.
 */
import { WAKE_SLICE_MS } from "../../base/limits.ts";
import { DAEMON_STREAM } from "../../protocol/records.ts";
import type { Commit, EventLog } from "../../store/event-log.ts";

/** The part of the log that a reader needs: its pages, and news of commits. */
export type ReadableLog = Pick<EventLog, "head" | "readLines" | "onCommit">;

export interface Waiter {
  /** The streams of which it reads; undefined for all. */
  readonly streams: readonly string[] | undefined;
  /** Called once for each `wait`: nothing up to `passed` is for this reader. Must not throw. */
  wake(passed: number): void;
}

/**
 * A reader that has come and not left. Its state is here and in no set: readers by the thousand that went from set to set with each
 * commit made V8 build the tables of the sets anew (base/bag.ts).
 */
interface TailReader {
  readonly waiter: Waiter;
  isWaiting: boolean;
  /** The seq up to which a reader that is to be woken has missed nothing. It also reads what was committed since. */
  due: number | undefined;
}

export class Tail {
  readonly log: ReadableLog;
  private readonly monoMs: () => number;
  private readonly readers = new Map<Waiter, TailReader>();
  private readonly ofStream = new Map<string, Set<TailReader>>();
  private readonly ofAll = new Set<TailReader>();
  /** The readers to wake, in their order. One that has left is due no more. */
  private queue: TailReader[] = [];
  /** How many readers wait or are due. */
  private count = 0;
  private isScheduled = false;
  /** The seq of the newest record of which the readers were told. */
  private told = 0;
  private unlisten: (() => void) | undefined;

  constructor(log: ReadableLog, monoMs: () => number) {
    this.log = log;
    this.monoMs = monoMs;
  }

  /** Wakes the reader, which has read everything, once at the next commit that may concern it. */
  wait(waiter: Waiter): void {
    const reader = this.readers.get(waiter) ?? this.enter(waiter);
    if (!reader.isWaiting) {
      reader.isWaiting = true;
      this.count += 1;
    }
    if (this.unlisten !== undefined) return;
    this.told = this.log.head();
    this.unlisten = this.log.onCommit((commit) => this.committed(commit));
  }

  /** Forgets a reader. */
  leave(waiter: Waiter): void {
    const reader = this.readers.get(waiter);
    if (reader !== undefined) this.forget(reader);
    if (this.count > 0) return;
    this.unlisten?.();
    this.unlisten = undefined;
  }

  private enter(waiter: Waiter): TailReader {
    const reader: TailReader = { waiter, isWaiting: false, due: undefined };
    this.readers.set(waiter, reader);
    if (waiter.streams === undefined) this.ofAll.add(reader);
    for (const stream of waiter.streams ?? []) {
      const readers = this.ofStream.get(stream);
      if (readers === undefined) this.ofStream.set(stream, new Set([reader]));
      else readers.add(reader);
    }
    return reader;
  }

  private forget(reader: TailReader): void {
    const { waiter } = reader;
    if (reader.isWaiting) this.count -= 1;
    if (reader.due !== undefined) this.count -= 1;
    reader.isWaiting = false;
    reader.due = undefined;
    this.readers.delete(waiter);
    this.ofAll.delete(reader);
    for (const stream of waiter.streams ?? []) {
      const readers = this.ofStream.get(stream);
      if (readers?.delete(reader) && readers.size === 0) this.ofStream.delete(stream);
    }
  }

  private committed({ head, streams }: Commit): void {
    const passed = this.told;
    this.told = head;
    // After a record of the daemon itself, nothing may follow: everybody looks.
    if (streams === undefined || streams.has(DAEMON_STREAM)) this.call(this.readers.values(), passed);
    else {
      this.call(this.ofAll, passed);
      for (const stream of streams) this.call(this.ofStream.get(stream) ?? [], passed);
    }
    if (this.queue.length > 0) this.schedule();
  }

  private call(readers: Iterable<TailReader>, passed: number): void {
    for (const reader of readers) {
      if (!reader.isWaiting) continue;
      reader.isWaiting = false;
      if (reader.due === undefined) this.queue.push(reader);
      else this.count -= 1;
      reader.due = passed;
    }
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.wakeSlice());
  }

  private wakeSlice(): void {
    this.isScheduled = false;
    const until = this.monoMs() + WAKE_SLICE_MS;
    let woken = 0;
    // A reader that a wake makes due is at the end of the same queue.
    while (woken < this.queue.length) {
      const reader = this.queue[woken]!;
      woken += 1;
      const { due } = reader;
      if (due === undefined) continue;
      reader.due = undefined;
      this.count -= 1;
      reader.waiter.wake(due);
      if (this.monoMs() >= until) break;
    }
    this.queue = this.queue.slice(woken);
    if (this.queue.length > 0) this.schedule();
  }
}
