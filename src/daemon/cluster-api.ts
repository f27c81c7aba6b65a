/** Clusters as handlers see them, whether this daemon is a node or not. */
import { Effect } from "effect";
import type { SharedQuestion, Telling } from "../cluster/budgets.ts";
import type { TreeOwner } from "../cluster/tree.ts";
import type { Caller } from "../protocol/caller.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { HoldAnswer } from "../protocol/holds.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type {
  ClusterChange,
  ClusterMade,
  ClusterStatus,
  CopiedPage,
  ElsewhereHits,
  ElsewherePage,
  NodeChange,
  NodeDrained,
  WaitingWorker,
} from "../protocol/replies/cluster.ts";
import type { TreeChange } from "../protocol/replies/trees.ts";
import type { RequestData, RequestName } from "../protocol/requests.ts";
import type { TreeBudget, WorkerSpec } from "../protocol/worker.ts";
import type { PerWorker, SpawnReply } from "../runtime/api.ts";
import type { Answered, HoldView } from "../runtime/replies.ts";

export interface AskedPlace {
  readonly spec: WorkerSpec;
  readonly dry_run: boolean;
  readonly idempotency_key?: string | undefined;
  readonly caller: Caller;
}

export interface AskedTree {
  readonly owner: TreeOwner;
  readonly workers: readonly WorkerSpec[];
  /** The budget that they share with the rest of their tree. */
  readonly budget?: TreeBudget | undefined;
  readonly caller: Caller;
}

export interface AskedTreeDown {
  readonly tree: string;
  readonly file: string | undefined;
  readonly caller: Caller;
}

/** The workers of a file on the cluster, as they were looked at. Nothing is changed before it is asked for. */
export interface PlacedTree {
  readonly changes: readonly TreeChange[];
  /** Ends those that shall not run. */
  readonly end: Effect.Effect<void, HoldfastError>;
  /** Places those that shall run. The answer is those that wait for a node. */
  readonly start: Effect.Effect<readonly WaitingWorker[], HoldfastError>;
}

export const NOTHING_PLACED: PlacedTree = {
  changes: [],
  end: Effect.void,
  start: Effect.succeed([]),
};

export interface HowToKill {
  readonly caller: Caller;
  readonly dry_run: boolean;
  readonly reason?: string | undefined;
  readonly grace_ms?: number | undefined;
  readonly signal?: string | undefined;
}

/** The copy of the logs, as people ask for it. Each fails with UNAVAILABLE soon where the database does not answer. */
export interface CopyReads {
  /** Fails with WORKER_NOT_FOUND if no worker of that name or id is placed. */
  records(asked: RequestData<"cluster/records">): Effect.Effect<CopiedPage, HoldfastError>;
  /** Placed workers that do not run here. */
  workers(asked: RequestData<"cluster/workers">): Effect.Effect<ElsewherePage, HoldfastError>;
  /** Records of placed workers that are in no log of this machine. */
  search(asked: RequestData<"cluster/search">): Effect.Effect<ElsewhereHits, HoldfastError>;
}

/** A worker that another node has. */
export interface HeldElsewhere {
  readonly node: string;
  /** In the log of that node. */
  readonly worker_id: string;
}

/** Nobody answers for a worker of the cluster now. */
export interface HeldByNobody {
  readonly trouble: HoldfastError;
}

export interface NodeCall {
  readonly node: string;
  readonly worker_id: string;
  readonly name: RequestName;
  readonly data: object;
  readonly caller: Caller;
}

/** Requests about a worker that another node has: that node answers them (decision 0101). */
export interface NodeCalls {
  /** False: all workers are of this machine, and no place of one is to be looked up. */
  isNode(): boolean;
  /**
   * By its name or id. Undefined where this machine has it, and where no node has. Fails with UNAVAILABLE where this machine
   * does not have it, and the database gives no answer.
   */
  where(ref: string): Effect.Effect<HeldElsewhere | HeldByNobody | undefined, HoldfastError>;
  /** Fails with UNAVAILABLE where the node gives no answer: the error says whether it may have carried the request out. */
  ask(call: NodeCall): Effect.Effect<Outcome<object>, HoldfastError>;
}

export interface ClusterApi {
  /** Makes the tables. Fails with UNAVAILABLE if the database does not take that. */
  init(asked: RequestData<"cluster/init">): Effect.Effect<ClusterMade, HoldfastError>;
  /** Fails with INVALID_STATE if this daemon is another node already, with ALREADY_EXISTS if a node of the name lives. */
  join(asked: RequestData<"cluster/join">): Effect.Effect<ClusterChange, HoldfastError>;
  /** Fails with INVALID_STATE if workers are placed here, or if this daemon is no node. */
  readonly leave: Effect.Effect<NodeChange, HoldfastError>;
  /** Fails with INVALID_STATE if this daemon is no node, with ALREADY_EXISTS if a worker of that name is placed. */
  place(asked: AskedPlace): Effect.Effect<SpawnReply, HoldfastError>;
  /** A tombstone for a worker, wherever it runs. Undefined: the cluster knows none of that name. */
  kill(worker: string, how: HowToKill): Effect.Effect<PerWorker | undefined, HoldfastError>;
  /** Fails with INVALID_STATE if this daemon is no node and the file places workers, with ALREADY_EXISTS for a name of another one. */
  tree(asked: AskedTree): Effect.Effect<PlacedTree, HoldfastError>;
  /** The same for a tree that is taken down; without a file, whoever owns it. */
  treeDown(asked: AskedTreeDown): Effect.Effect<PlacedTree, HoldfastError>;
  /** Workers whose labels no node has; as they were known last, while the database is away. */
  readonly questions: Effect.Effect<readonly HoldView[]>;
  /** Answers such a question, from any node. Undefined: the cluster has no such worker. Fails with INVALID_STATE if it asks nothing. */
  answer(
    worker: string,
    said: HoldAnswer,
    caller: Caller,
  ): Effect.Effect<Answered | undefined, HoldfastError>;
  /** Whether `teller`, a question of this machine's log or of one that it follows, is the one of the cluster that is told. */
  tellingOfBudget(asked: SharedQuestion): Effect.Effect<Telling, HoldfastError>;
  drain(asked: RequestData<"cluster/drain">): Effect.Effect<NodeDrained, HoldfastError>;
  /** A tombstone for a placed worker that lives on this node, by its id or name, before it is killed here. */
  bury(ref: string, how: HowToKill): Effect.Effect<void>;
  /** A person says that the machine of a dead node is gone. */
  giveUp(asked: { readonly node: string }): Effect.Effect<NodeChange, HoldfastError>;
  readonly copy: CopyReads;
  readonly calls: NodeCalls;
  readonly status: Effect.Effect<ClusterStatus, HoldfastError>;
  /** Around the end of the daemon's workers: it takes none meanwhile, and then gives back what does not run here any more. */
  stopping(end: Effect.Effect<void, HoldfastError>): Effect.Effect<void, HoldfastError>;
}

export const noNode = (): HoldfastError =>
  new HoldfastError("INVALID_STATE", "This daemon is in no cluster.", {
    suggestion: "Make it a node with: agent cluster join URL",
  });

export const NO_STATUS: ClusterStatus = {
  self: null,
  nodes: null,
  unplaced: null,
  waiting: null,
  failed: null,
  keep_days: null,
};

const ofADaemon = Effect.fail(
  new HoldfastError("INVALID_STATE", "A program embeds this runtime, and only a daemon can be a node.", {
    suggestion: "Start a daemon in a state directory of its own: agent daemon start --state-dir DIR",
  }),
);

export const NO_CALLS: NodeCalls = {
  isNode: () => false,
  where: () => Effect.undefined,
  ask: () => ofADaemon,
};

/** That of a program that embeds the runtime. */
export const NO_CLUSTER: ClusterApi = {
  init: () => ofADaemon,
  join: () => ofADaemon,
  leave: ofADaemon,
  place: () => ofADaemon,
  kill: () => Effect.undefined,
  tree: ({ workers }) => (workers.length === 0 ? Effect.succeed(NOTHING_PLACED) : ofADaemon),
  treeDown: () => Effect.succeed(NOTHING_PLACED),
  questions: Effect.succeed([]),
  answer: () => Effect.undefined,
  tellingOfBudget: () => ofADaemon,
  drain: () => ofADaemon,
  bury: () => Effect.void,
  giveUp: () => ofADaemon,
  calls: NO_CALLS,
  copy: { records: () => ofADaemon, workers: () => ofADaemon, search: () => ofADaemon },
  status: Effect.succeed(NO_STATUS),
  stopping: (end) => end,
};
