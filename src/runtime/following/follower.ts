/**
 * One reader of the log that is handed page after page, and then each commit, until all that it wants is read. It is an object
 * and no fiber: ten thousand may wait at the live tail. A page that it cannot take at once is waited for, and meanwhile nothing
 * is read for it.
 */
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import type { EventLog } from "../../store/port.ts";
import type { Tail, Waiter } from "./tail.ts";
import { type Follow, lookFrom, type Page } from "./watch.ts";

/** Undefined where the page is taken; otherwise it resolves when there is room for the next one. */
export type Take = (page: Page) => Promise<void> | undefined;

export interface Followed {
  /** All is read; the cursor to go on from. */
  readonly onOver: (next: number) => void;
  readonly onFailure: (error: HoldfastError) => void;
}

export class Follower implements Waiter {
  private readonly log: EventLog;
  private readonly tail: Tail;
  private readonly follow: Follow;
  private readonly take: Take;
  private readonly followed: Followed;
  private cursor: number;
  private isStopped = false;

  constructor(log: EventLog, tail: Tail, follow: Follow, take: Take, followed: Followed) {
    this.log = log;
    this.tail = tail;
    this.follow = follow;
    this.take = take;
    this.followed = followed;
    this.cursor = follow.from;
  }

  wake(): void {
    try {
      this.goOn();
    } catch (cause) {
      this.fail(cause);
    }
  }

  /** It is told nothing any more. */
  stop(): void {
    this.isStopped = true;
    this.tail.leave(this);
  }

  private goOn(): void {
    while (!this.isStopped) {
      const found = lookFrom(this.log, this.follow, this.cursor);
      this.cursor = found.next;
      if (found.type === "over") {
        this.followed.onOver(found.next);
        return;
      }
      if (found.type === "cut") throw new HoldfastError("UNAVAILABLE", "The runtime was shut down.");
      if (found.type === "wait") {
        this.tail.wait(this);
        return;
      }
      const taken = found.type === "page" ? this.take(found.page) : undefined;
      if (taken !== undefined) {
        taken.then(
          () => this.wake(),
          (cause) => this.fail(cause),
        );
        return;
      }
      // A reader as fast as we are would keep the event loop to itself.
      if (this.cursor < this.log.head()) {
        setImmediate(() => this.wake());
        return;
      }
    }
  }

  private fail(cause: unknown): void {
    if (this.isStopped) return;
    this.stop();
    this.followed.onFailure(asHoldfastError(cause));
  }
}
