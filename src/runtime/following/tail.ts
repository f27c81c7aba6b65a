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

export class Tail {
  readonly log: ReadableLog;
  private readonly monoMs: () => number;
  private readonly waiting = new Set<Waiter>();
  /** The readers that have come and not left, by stream. */
  private readonly ofStream = new Map<string, Set<Waiter>>();
  private readonly ofAll = new Set<Waiter>();
  /** The readers to wake, each with the seq up to which it has missed nothing. They also read what was committed since. */
  private readonly due = new Map<Waiter, number>();
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
    this.enter(waiter);
    this.waiting.add(waiter);
    if (this.unlisten !== undefined) return;
    this.told = this.log.head();
    this.unlisten = this.log.onCommit((commit) => this.committed(commit));
  }

  /** Forgets a reader. */
  leave(waiter: Waiter): void {
    this.waiting.delete(waiter);
    this.due.delete(waiter);
    this.ofAll.delete(waiter);
    for (const stream of waiter.streams ?? []) {
      const readers = this.ofStream.get(stream);
      if (readers?.delete(waiter) && readers.size === 0) this.ofStream.delete(stream);
    }
    if (this.waiting.size + this.due.size > 0) return;
    this.unlisten?.();
    this.unlisten = undefined;
  }

  private enter(waiter: Waiter): void {
    if (waiter.streams === undefined) this.ofAll.add(waiter);
    for (const stream of waiter.streams ?? []) {
      const readers = this.ofStream.get(stream);
      if (readers === undefined) this.ofStream.set(stream, new Set([waiter]));
      else readers.add(waiter);
    }
  }

  private committed({ head, streams }: Commit): void {
    const passed = this.told;
    this.told = head;
    // After a record of the daemon itself, nothing may follow: everybody looks.
    if (streams === undefined || streams.has(DAEMON_STREAM)) this.call(this.waiting, passed);
    else {
      this.call(this.ofAll, passed);
      for (const stream of streams) this.call(this.ofStream.get(stream) ?? [], passed);
    }
    if (this.due.size > 0) this.schedule();
  }

  private call(readers: Iterable<Waiter>, passed: number): void {
    for (const waiter of readers) if (this.waiting.delete(waiter)) this.due.set(waiter, passed);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.wakeSlice());
  }

  private wakeSlice(): void {
    this.isScheduled = false;
    const until = this.monoMs() + WAKE_SLICE_MS;
    for (const [waiter, passed] of this.due) {
      this.due.delete(waiter);
      waiter.wake(passed);
      if (this.monoMs() >= until) break;
    }
    if (this.due.size > 0) this.schedule();
  }
}
