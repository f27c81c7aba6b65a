/** How a node gives back what its daemon does not run any more when it stops: others need not wait for the end of its lease. */
import { Effect, Schedule } from "effect";
import { endPlaced } from "../../adapters/process/placed-runs.ts";
import { CLUSTER_ANSWER_MS, CLUSTER_TICK_MS } from "../../base/limits.ts";
import type { RunFence } from "../../cluster/rows.ts";
import type { ClusterStore } from "../../cluster/store.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RuntimeApi } from "../../runtime/api.ts";
import { holdsLease, type KeptNode } from "./kept.ts";
import { isFinal } from "./placed-machine.ts";
import { isKept, rewriteKept } from "./rewrite.ts";
import type { Trouble } from "./trouble.ts";

type GivingStore = Pick<ClusterStore, "view" | "end" | "release" | "bury">;

export interface StoppedNode {
  readonly node: string;
  readonly node_term: number;
  /** Workers that go on without the daemon, for the next one. */
  readonly goesOn: ReadonlySet<string>;
  /** By the log: it shall not run again. */
  readonly isOver: (run: RunFence) => Promise<boolean>;
  /** The guard and the next daemon believe in no lease afterwards. */
  readonly forgetLease: () => void;
}

/** Nothing of the workers that it gives back may be left on the machine. */
export const giveBack = async (store: GivingStore, stopped: StoppedNode): Promise<void> => {
  const { node, node_term, goesOn, isOver, forgetLease } = stopped;
  const { nodes, placements } = await store.view(node);
  const self = nodes.find(({ id, term }) => id === node && term === node_term);
  if (self === undefined) return;
  const free = placements.filter(
    (each) => each.node === node && each.node_term === node_term && !goesOn.has(each.worker),
  );
  for (const { worker, term, needs, starts } of free) {
    const run = { node, node_term, worker, term };
    if (await isOver(run)) await store.end(run);
    else if (needs !== null) await store.release(run, starts);
  }
  // A drained node takes nothing anyway.
  if (goesOn.size > 0 || self.state === "draining") return;
  forgetLease();
  await store.bury(node, node_term, self.beat);
};

interface StoppingGround {
  readonly stateDir: string;
  readonly runtime: Pick<RuntimeApi, "status" | "placed">;
}

/** Its life goes on until `end`. */
interface StoppingNode {
  readonly kept: KeptNode;
  readonly copied_to: number | null;
  readonly lease: Pick<Trouble, "failing">;
  readonly end: Effect.Effect<void>;
}

/** After the runtime has stopped. A database that is away holds up no stop: the others then wait for the end of the lease. */
export const givingBack = (
  { runtime, stateDir }: StoppingGround,
  living: StoppingNode,
  asking: (deed: (store: GivingStore) => Promise<void>) => Effect.Effect<void, HoldfastError>,
): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    if (!holdsLease(living.kept) || living.lease.failing !== null || !isKept(stateDir)) return;
    const { store_id, head } = yield* runtime.status();
    yield* untilCopied(living, head);
    // A renewal would undo what follows.
    yield* living.end;
    const { kept } = living;
    const here = (yield* runtime.placed()).filter(({ placed }) => placed.node === kept.name);
    const goesOn = new Set(here.map(({ placed }) => placed.worker));
    yield* Effect.tryPromise(() => endPlaced(store_id, kept.name, ({ worker }) => !goesOn.has(worker)));
    const stopped = {
      node: kept.name,
      node_term: kept.term,
      goesOn,
      isOver: (run: RunFence) => Effect.runPromise(isOver(runtime, run)),
      forgetLease: () => rewriteKept(stateDir, { ...kept, until_ms: null }),
    };
    yield* asking((store) => giveBack(store, stopped));
  });

/** The records of a worker come before its next node, where that takes no longer than an answer. */
const untilCopied = (living: StoppingNode, head: number): Effect.Effect<unknown> => {
  const isCopied = Effect.sync(() => (living.copied_to ?? 0) >= head);
  const copied = Effect.repeat(isCopied, { until: (is) => is, schedule: Schedule.spaced(CLUSTER_TICK_MS) });
  return Effect.option(Effect.timeout(copied, CLUSTER_ANSWER_MS));
};

/** The node holds its lease, so an end that nobody asked for is the worker's own. */
const isOver = (
  { placed }: StoppingGround["runtime"],
  { worker, term }: RunFence,
): Effect.Effect<boolean, HoldfastError> =>
  Effect.map(placed(worker), (all) => {
    const own = all.find((each) => each.isItself && each.placed.term === term);
    return own !== undefined && (isFinal(own) || own.killed_by === null);
  });
