/**
 * Copies a daemon's log to the cluster, in order, for as long as its fiber lives. The store knows how far it came, so a node that was
 * away, or whose daemon is new, goes on there.
 */
import { Effect } from "effect";
import { CLUSTER_RETRY_MS, CLUSTER_SHIP_MAX_RECORDS, CLUSTER_STATEMENT_MAX_MS } from "../../base/limits.ts";
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
export const ship = ({ node, store, log, onCopied, report }: Shipping): Effect.Effect<never> => {
  let copied: number | undefined;
  const step = Effect.suspend(() =>
    copied === undefined ? Effect.succeed([]) : log.read(copied, CLUSTER_SHIP_MAX_RECORDS),
  ).pipe(
    Effect.flatMap((records) =>
      Effect.timeout(
        Effect.tryPromise(() => store.append(node, log, records)),
        CLUSTER_STATEMENT_MAX_MS,
      ),
    ),
    Effect.matchCauseEffect({
      onFailure: (cause) => {
        report("the copy of the log", cause);
        return Effect.sleep(CLUSTER_RETRY_MS);
      },
      onSuccess: (seq) => {
        copied = seq;
        return Effect.sync(() => onCopied(seq));
      },
    }),
  );
  return Effect.forever(step);
};
