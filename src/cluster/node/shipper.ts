/**
 * Copies a daemon's log to the cluster, in order, for as long as its fiber lives. The store knows how far it came, so a node that was
 * away, or whose daemon is new, goes on there.
 */
import { Effect, type Scope } from "effect";
import { CLUSTER_RETRY_MS, CLUSTER_STATEMENT_MAX_MS } from "../../base/limits.ts";
import type { ClusterStore, CopiedRecord, LogName } from "../store.ts";
import { ReadAhead } from "./read-ahead.ts";

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
    Effect.catchCause(copying(shipping), (cause) => {
      shipping.report("the copy of the log", cause);
      return Effect.sleep(CLUSTER_RETRY_MS);
    }),
  );

/** Copies until something fails. */
const copying = (shipping: Shipping): Effect.Effect<never, unknown> =>
  Effect.gen(function* () {
    const append = appendingOf(shipping);
    let copied = yield* append([]);
    for (;;) copied = yield* Effect.scoped(copyingFrom(shipping.log, copied, append));
  });

type CopyAppend = (records: readonly CopiedRecord[]) => Effect.Effect<number, unknown>;

const appendingOf =
  ({ node, store, log, onCopied }: Shipping): CopyAppend =>
  (records) =>
    Effect.tap(
      Effect.timeout(
        Effect.tryPromise(() => store.append(node, log, records)),
        CLUSTER_STATEMENT_MAX_MS,
      ),
      (seq) => Effect.sync(() => onCopied(seq)),
    );

/**
 * Copies until the store is not as far as it should be, and then says how far it is. The store is asked now and then while the log
 * stands still, since somebody may have taken the copy away.
 */
const copyingFrom = (
  log: ShippedLog,
  from: number,
  append: CopyAppend,
): Effect.Effect<number, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const ahead = new ReadAhead(log);
    yield* Effect.forkScoped(ahead.from(from));
    let copied = from;
    for (;;) {
      const records = yield* ahead.take();
      copied = records.at(-1)?.seq ?? copied;
      const seq = yield* append(records);
      if (seq !== copied) return seq;
    }
  });
