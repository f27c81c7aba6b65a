/**
 * Copies a daemon's log to the cluster, in order, for as long as its fiber lives. The store knows how far it came, so a node that was
 * away, or whose daemon is new, goes on there.
 */
import { Effect, Fiber, type Scope } from "effect";
import {
  CLUSTER_COPY_CHECK_MS,
  CLUSTER_RETRY_MS,
  CLUSTER_SHIP_MAX_RECORDS,
  CLUSTER_STATEMENT_MAX_MS,
} from "../../base/limits.ts";
import type { ClusterStore, CopiedRecord, LogName } from "../store.ts";

/** A log, as it is copied: its records are dense from 1. */
export interface ShippedLog extends LogName {
  /** At most so many records after this seq, in order. At the end of the log it waits for the next one. */
  read(after: number, max: number): Effect.Effect<readonly CopiedRecord[], unknown>;
}

export interface Shipping {
  readonly node: string;
  readonly store: ClusterStore;
  readonly log: ShippedLog;
  /** Up to here every record is in the copy. */
  readonly onCopied: (seq: number) => void;
  readonly report: (what: string, cause: unknown) => void;
}

/** A copy that failed may have come, and is then no second one: the store takes each record once. */
export const ship = (shipping: Shipping): Effect.Effect<never> =>
  Effect.forever(
    Effect.catchCause(Effect.scoped(copying(shipping)), (cause) => {
      shipping.report("the copy of the log", cause);
      return Effect.sleep(CLUSTER_RETRY_MS);
    }),
  );

/** Copies until something fails. Its reads end with the scope. */
const copying = ({ node, store, log, onCopied }: Shipping): Effect.Effect<never, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const append = (records: readonly CopiedRecord[]) =>
      Effect.tap(
        Effect.timeout(
          Effect.tryPromise(() => store.append(node, log, records)),
          CLUSTER_STATEMENT_MAX_MS,
        ),
        (seq) => Effect.sync(() => onCopied(seq)),
      );
    const reading = (after: number) => Effect.forkScoped(log.read(after, CLUSTER_SHIP_MAX_RECORDS));
    let copied = yield* append([]);
    let page = yield* reading(copied);
    for (;;) {
      const records = yield* atOnce(page);
      const last = records.at(-1)?.seq ?? copied;
      // Behind a full page there are more records, so they are read while the statement runs. Others are more, the later they are read.
      const next = records.length < CLUSTER_SHIP_MAX_RECORDS ? undefined : yield* reading(last);
      const seq = yield* append(records);
      const isWaiting = records.length === 0 && seq === copied && page.pollUnsafe() === undefined;
      copied = seq;
      if (isWaiting) continue;
      if (seq === last && next !== undefined) {
        page = next;
        continue;
      }
      yield* Fiber.interruptAll([page, ...(next === undefined ? [] : [next])]);
      page = yield* reading(seq);
    }
  });

/** Nothing, if the log stands still: then the store is asked how far it came, since somebody may have taken the copy away. */
const atOnce = (
  page: Fiber.Fiber<readonly CopiedRecord[], unknown>,
): Effect.Effect<readonly CopiedRecord[], unknown> =>
  Effect.map(Effect.timeoutOption(Fiber.join(page), CLUSTER_COPY_CHECK_MS), (read) =>
    read._tag === "Some" ? read.value : [],
  );
