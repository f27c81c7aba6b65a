/**
 * Reads a log ahead of its copy: what is committed while a statement runs is in memory then, and is read as soon as it comes. A copy
 * that read behind the statement would find the records of a busy log no longer in memory, and read them from the disk.
 */
import { type Cause, Effect, Latch } from "effect";
import {
  CLUSTER_COPY_CHECK_MS,
  CLUSTER_SHIP_MAX_CHARS,
  CLUSTER_SHIP_MAX_RECORDS,
} from "../../base/limits.ts";
import type { CopiedRecord } from "../store.ts";
import type { ShippedLog } from "./shipper.ts";

interface PageAhead {
  readonly records: readonly CopiedRecord[];
  readonly chars: number;
}

export class ReadAhead {
  private readonly log: ShippedLog;
  private pages: PageAhead[] = [];
  /** Open while there is something to take, or a failure to tell. */
  private readonly filled = Latch.makeUnsafe(false);
  /** Open while the pages have fewer records and characters than a statement. */
  private readonly room = Latch.makeUnsafe(true);
  private failure: Cause.Cause<unknown> | undefined;

  constructor(log: ShippedLog) {
    this.log = log;
  }

  /** Reads for as long as its fiber lives. */
  from(after: number): Effect.Effect<void> {
    const reading = Effect.gen({ self: this }, function* () {
      let last = after;
      for (;;) {
        yield* this.room.await;
        const records = yield* this.log.read(last, CLUSTER_SHIP_MAX_RECORDS - this.size("records"));
        last = records.at(-1)?.seq ?? last;
        this.pages.push({ records, chars: records.reduce((sum, { text }) => sum + text.length, 0) });
        // A log that ends has an empty page: the copy is asked for once more then.
        if (records.length === 0 || this.isFull()) Latch.closeUnsafe(this.room);
        Latch.openUnsafe(this.filled);
      }
    });
    return Effect.catchCause(reading, (cause) =>
      Effect.sync(() => {
        this.failure = cause;
        Latch.openUnsafe(this.filled);
      }),
    );
  }

  /** All that was read, for one statement. Nothing, if the log stands still for a while. */
  take(): Effect.Effect<readonly CopiedRecord[], unknown> {
    return Effect.flatMap(Effect.timeoutOption(this.filled.await, CLUSTER_COPY_CHECK_MS), () => {
      if (this.failure !== undefined) return Effect.failCause(this.failure);
      const taken = this.pages.splice(0, this.pagesOfStatement());
      if (this.pages.length === 0) Latch.closeUnsafe(this.filled);
      if (!this.isFull()) Latch.openUnsafe(this.room);
      return Effect.succeed(taken.flatMap(({ records }) => records));
    });
  }

  /** At least one. */
  private pagesOfStatement(): number {
    let chars = 0;
    const over = this.pages.findIndex((page, at) => {
      chars += page.chars;
      return at > 0 && chars > CLUSTER_SHIP_MAX_CHARS;
    });
    return over === -1 ? this.pages.length : over;
  }

  private isFull(): boolean {
    return this.size("records") >= CLUSTER_SHIP_MAX_RECORDS || this.size("chars") >= CLUSTER_SHIP_MAX_CHARS;
  }

  private size(of: "records" | "chars"): number {
    return this.pages.reduce((sum, { records, chars }) => sum + (of === "chars" ? chars : records.length), 0);
  }
}
