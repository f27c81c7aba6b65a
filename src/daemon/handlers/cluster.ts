/** cluster/*: this daemon as a node. Only who may do anything with all workers changes that. */
import { Effect } from "effect";
import type { CLUSTER_REQUESTS } from "../../protocol/cluster-requests.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { ClusterApi } from "../cluster-api.ts";
import type { HandlerServices, Handlers } from "./handler.ts";

const permitted = <Reply>(
  { runtime, caller, cluster }: HandlerServices,
  what: string,
  deed: (cluster: ClusterApi) => Effect.Effect<Reply, HoldfastError>,
) =>
  Effect.andThen(
    runtime.permitAll(caller(), what),
    Effect.map(deed(cluster), (reply) => success(reply)),
  );

export const CLUSTER: Handlers<keyof typeof CLUSTER_REQUESTS> = {
  "cluster/init": {
    lifetime: "command",
    run: (services, asked) => permitted(services, "make a cluster", (cluster) => cluster.init(asked)),
  },
  "cluster/join": {
    lifetime: "command",
    run: (services, asked) => permitted(services, "join a cluster", (cluster) => cluster.join(asked)),
  },
  "cluster/leave": {
    lifetime: "command",
    run: (services, { gone }) =>
      permitted(services, "take a node out of a cluster", (cluster) =>
        gone === undefined ? cluster.leave : cluster.giveUp({ node: gone }),
      ),
  },
  "cluster/drain": {
    lifetime: "command",
    run: (services, asked) => permitted(services, "drain a node", (cluster) => cluster.drain(asked)),
  },
  "cluster/records": {
    lifetime: "read",
    run: (services, asked) =>
      permitted(services, "read the copy of a cluster", (cluster) => cluster.copy.records(asked)),
  },
  "cluster/workers": {
    lifetime: "read",
    run: (services, asked) =>
      permitted(services, "read the copy of a cluster", (cluster) => cluster.copy.workers(asked)),
  },
  "cluster/search": {
    lifetime: "read",
    run: (services, asked) =>
      permitted(services, "read the copy of a cluster", (cluster) => cluster.copy.search(asked)),
  },
  "cluster/status": {
    lifetime: "read",
    run: ({ cluster }) => Effect.map(cluster.status, (reply) => success(reply)),
  },
};
