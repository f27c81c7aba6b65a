/** The cluster as its people see it at one node. */
import { Effect } from "effect";
import { CLUSTER_ANSWER_MS } from "../../base/limits.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { ClusterStatus } from "../../protocol/replies/cluster.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import { waitingIn } from "./desk.ts";
import { selfOf } from "./self.ts";
import type { Trouble } from "./trouble.ts";

type SeenNode = Parameters<typeof selfOf>[0] & {
  readonly store: PostgresStore | undefined;
  readonly lease: Trouble;
};

export const statusOf = (
  living: SeenNode,
  runtime: Pick<RuntimeApi, "status">,
): Effect.Effect<ClusterStatus, HoldfastError> => {
  const look = async (store: PostgresStore) => ({
    ...(await store.overview()),
    waiting: await waitingIn(store),
    failed: await store.failed(),
  });
  const seen = Effect.tryPromise(async () => living.store && look(living.store)).pipe(
    Effect.timeout(CLUSTER_ANSWER_MS),
    Effect.catchCause((cause) => {
      living.lease.report("a look at the cluster", cause);
      return Effect.succeed(undefined);
    }),
  );
  return Effect.map(Effect.all([runtime.status(), seen]), ([{ head }, overview]) => ({
    self: selfOf(living, head),
    nodes:
      overview?.nodes.map(({ id, store_id: _, endpoint, ...node }) => ({
        name: id,
        ...node,
        endpoint: endpoint === "" ? null : endpoint,
        beat_age_ms: Math.round(node.beat_age_ms),
      })) ?? null,
    unplaced: overview?.unplaced ?? null,
    waiting: overview?.waiting ?? null,
    failed: overview?.failed ?? null,
    keep_days: overview?.keep_days ?? null,
  }));
};
