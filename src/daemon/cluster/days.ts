/** The days of a cluster's copy: how many are kept, and their end (decision 0088). */
import { Cause, Effect, Schedule } from "effect";
import { CLUSTER_COPY_KEEP_DAYS_DEFAULT, CLUSTER_COPY_TEND_LOOK_MS } from "../../base/limits.ts";
import { ClockAheadError } from "../../cluster/errors.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { ClusterMade } from "../../protocol/replies/cluster.ts";
import type { Log } from "../log.ts";
import type { Trouble } from "./trouble.ts";

/** Tables of before keep all days until somebody says a number: nothing is dropped that was to stay. */
export const makeTables = async (
  store: Pick<PostgresStore, "migrate" | "keepDays" | "tendCopy">,
  asked: number | undefined,
): Promise<ClusterMade> => {
  const { from, to } = await store.migrate();
  const isNew = from === 0;
  const { before, keep_days } = await store.keepDays(
    asked ?? (isNew ? CLUSTER_COPY_KEEP_DAYS_DEFAULT : undefined),
  );
  // The nodes do what is left of it.
  const dropped_days = (await store.tendCopy().catch(() => null)) ?? 0;
  const isSame = from === to && before === keep_days;
  return { version: to, keep_days, dropped_days, effect: isNew ? "created" : isSame ? "noop" : "updated" };
};

interface CopyTroubles {
  readonly copy: Pick<Trouble, "report">;
  /** A wrong clock alone: what else hinders the drop hinders the copy. */
  readonly drop: Pick<Trouble, "report" | "isWell">;
}

/** One node of all drops what is too old, and all of them look. */
export const tendingDays = (
  store: Pick<PostgresStore, "tendCopy">,
  { copy, drop }: CopyTroubles,
  log: Log,
): Effect.Effect<unknown> =>
  Effect.tryPromise({ try: () => store.tendCopy(), catch: (error) => error }).pipe(
    Effect.tap((days) =>
      Effect.sync(() => {
        drop.isWell();
        if (days !== null && days > 0) log("info", "old days of the cluster's copy were dropped", { days });
      }),
    ),
    Effect.catchCause((cause) =>
      Effect.sync(() => {
        const trouble = Cause.squash(cause) instanceof ClockAheadError ? drop : copy;
        trouble.report("the drop of old days of the copy", cause);
      }),
    ),
    Effect.repeat(Schedule.spaced(CLUSTER_COPY_TEND_LOOK_MS)),
  );
