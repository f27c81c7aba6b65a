/**
 * Wakes the readers that wait at the end of the log after each commit, in slices of time, so that ten thousand watchers do
 * not hold up supervision. A waiting reader costs an entry in a set, no fiber and no listener of its own.
 */
import { WAKE_SLICE_MS } from "../../base/limits.ts";
import type { EventLog } from "../../store/event-log.ts";

/** The part of the log that a reader needs: its pages, and news of commits. */
export type ReadableLog = Pick<EventLog, "head" | "readLines" | "onCommit">;

export interface Waiter {
  /** Called once for each `wait`. Must not throw. */
  wake(): void;
}

export class Tail {
  readonly log: ReadableLog;
  private readonly monoMs: () => number;
  private waiting = new Set<Waiter>();
  /** The readers to wake. They also read what was committed since. */
  private due = new Set<Waiter>();
  private isScheduled = false;
  private unlisten: (() => void) | undefined;

  constructor(log: ReadableLog, monoMs: () => number) {
    this.log = log;
    this.monoMs = monoMs;
  }

  /** Wakes the reader once at the next commit. */
  wait(waiter: Waiter): void {
    this.waiting.add(waiter);
    this.unlisten ??= this.log.onCommit(() => this.committed());
  }

  leave(waiter: Waiter): void {
    this.waiting.delete(waiter);
    this.due.delete(waiter);
    if (this.waiting.size + this.due.size > 0) return;
    this.unlisten?.();
    this.unlisten = undefined;
  }

  private committed(): void {
    if (this.due.size === 0) [this.due, this.waiting] = [this.waiting, this.due];
    else {
      for (const waiter of this.waiting) this.due.add(waiter);
      this.waiting.clear();
    }
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.wakeSlice());
  }

  private wakeSlice(): void {
    this.isScheduled = false;
    const until = this.monoMs() + WAKE_SLICE_MS;
    for (const waiter of this.due) {
      this.due.delete(waiter);
      waiter.wake();
      if (this.monoMs() >= until) break;
    }
    if (this.due.size > 0) this.schedule();
  }
}
