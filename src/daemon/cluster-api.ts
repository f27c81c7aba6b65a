/** Clusters as handlers see them, whether this daemon is a node or not. */
import { Effect } from "effect";
import { HoldfastError } from "../protocol/errors.ts";
import type { ClusterChange, ClusterMade, ClusterStatus } from "../protocol/replies/cluster.ts";
import type { RequestData } from "../protocol/requests.ts";

export interface ClusterApi {
  /** Makes the tables. Fails with UNAVAILABLE if the database does not take that. */
  init(asked: RequestData<"cluster/init">): Effect.Effect<ClusterMade, HoldfastError>;
  /** Fails with INVALID_STATE if this daemon is another node already, with ALREADY_EXISTS if a node of the name lives. */
  join(asked: RequestData<"cluster/join">): Effect.Effect<ClusterChange, HoldfastError>;
  /** Fails with INVALID_STATE if workers are placed here, or if this daemon is no node. */
  readonly leave: Effect.Effect<ClusterChange, HoldfastError>;
  readonly status: Effect.Effect<ClusterStatus, HoldfastError>;
}

export const noNode = (): HoldfastError =>
  new HoldfastError("INVALID_STATE", "This daemon is in no cluster.", {
    suggestion: "Make it a node with: agent cluster join URL",
  });

export const NO_STATUS: ClusterStatus = { self: null, nodes: null, unplaced: null };

const ofADaemon = Effect.fail(
  new HoldfastError("INVALID_STATE", "A program embeds this runtime, and only a daemon can be a node.", {
    suggestion: "Start a daemon in a state directory of its own: agent daemon start --state-dir DIR",
  }),
);

/** That of a program that embeds the runtime. */
export const NO_CLUSTER: ClusterApi = {
  init: () => ofADaemon,
  join: () => ofADaemon,
  leave: ofADaemon,
  status: Effect.succeed(NO_STATUS),
};
