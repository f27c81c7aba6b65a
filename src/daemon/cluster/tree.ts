/** The workers of a file on the cluster: `agent up` places them by their names, and `agent down` ends them (decision 0083). */
import { setTimeout as sleep } from "node:timers/promises";
import { Effect } from "effect";
import { CLUSTER_ANSWER_MS, CLUSTER_ANSWER_OF_NODE_MS, CLUSTER_ASK_NODE_MS } from "../../base/limits.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { Killer } from "../../cluster/rows.ts";
import { isOf, type OwnedRow, planTree, type TreeOwner, type TreePlan } from "../../cluster/tree.ts";
import type { Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WaitingWorker } from "../../protocol/replies/cluster.ts";
import type { TreeChange } from "../../protocol/replies/trees.ts";
import type { TreeBudget } from "../../protocol/worker.ts";
import { type AskedTree, type AskedTreeDown, NOTHING_PLACED, type PlacedTree } from "../cluster-api.ts";
import { PlacedBudgets, rowsOf } from "./budgets.ts";
import { type Desk, fitsNowhere, placementOf, taken, untilAnswered, waitingIn } from "./desk.ts";

type TreeDesk = Desk & Pick<PostgresStore, "ofTree" | "retire" | "disown" | "withBudget" | "dropBudget">;

export interface TreeGround {
  readonly atDesk: <Reply>(
    ask: (store: PostgresStore) => Promise<Reply>,
  ) => Effect.Effect<Reply, HoldfastError>;
  /** The one who asks, as records name it. */
  readonly permitted: (caller: Caller) => Effect.Effect<string, HoldfastError>;
}

/** The reasons of an end, in the words of a tree on one machine. */
const TAKEN_DOWN = "its tree was taken down";
const NOT_IN_FILE = "it is in the file no more";
const CHANGED = "its spec changed";

export const treeOn = (
  { atDesk, permitted }: TreeGround,
  asked: AskedTree,
): Effect.Effect<PlacedTree, HoldfastError> =>
  Effect.map(atMost(atDesk((store) => lookAtTree(store, asked))), (seen) => {
    const { owner, workers, caller, budget } = asked;
    const { changes, remove } = seen.plan;
    const end = (by: string) =>
      atDesk((store) => endPlacedOf(store, owner.tree, remove, { by, reason: NOT_IN_FILE }));
    const start = (by: string) =>
      atDesk(async (store) => {
        await declareBudget(store, owner.tree, budget, seen.isNew);
        return startPlaced(store, owner, seen, by);
      });
    return {
      changes,
      end: remove.length === 0 ? Effect.void : Effect.flatMap(permitted(caller), end),
      start: workers.length === 0 ? Effect.succeed([]) : Effect.flatMap(permitted(caller), start),
    };
  });

export const treeDownOn = (
  { atDesk, permitted }: TreeGround,
  { tree, file, caller }: AskedTreeDown,
): Effect.Effect<PlacedTree, HoldfastError> =>
  Effect.map(atMost(atDesk((store) => workersOf(store, tree, file))), (rows) => {
    const names = rows.map(({ worker }) => worker);
    const end = (by: string) =>
      atDesk(async (store) => {
        await endPlacedOf(store, tree, names, { by, reason: TAKEN_DOWN });
        await store.dropBudget(rowsOf({ tree }));
      });
    return {
      ...NOTHING_PLACED,
      changes: rows.map(takenDown),
      end: names.length === 0 ? Effect.void : Effect.flatMap(permitted(caller), end),
    };
  });

/** A look at a database that is cut off, and says nothing. */
export const atMost = <Reply>(
  look: Effect.Effect<Reply, HoldfastError>,
  duration: number = CLUSTER_ANSWER_MS,
): Effect.Effect<Reply, HoldfastError> =>
  Effect.timeoutOrElse(look, {
    duration,
    orElse: () =>
      Effect.fail(
        new HoldfastError("UNAVAILABLE", `The database gave no answer within ${duration} ms.`, {
          suggestion: "See what is wrong with: agent cluster status",
        }),
      ),
  });

/** A file that has no worker in the cluster yet has its budget anew. */
const declareBudget = async (
  store: TreeDesk,
  tree: string,
  budget: TreeBudget | undefined,
  isNew: boolean,
): Promise<void> => {
  if (isNew) await store.dropBudget(rowsOf({ tree }));
  else if (budget !== undefined) await new PlacedBudgets(store).declare(tree, budget.budget);
};

interface TreeAtDesk {
  readonly plan: TreePlan;
  /** No worker of the tree is in the cluster. */
  readonly isNew: boolean;
  readonly wanted: ReadonlyMap<string, ReturnType<typeof placementOf>>;
}

/** Nothing is changed yet. Throws ALREADY_EXISTS for a name that another one has. */
const lookAtTree = async (store: TreeDesk, { owner, workers, budget }: AskedTree): Promise<TreeAtDesk> => {
  const wanted = new Map(
    workers.map((spec) => [spec.name ?? "", placementOf(spec.name ?? "", spec, budget)]),
  );
  const rows = await store.ofTree(owner.tree, [...wanted.keys()]);
  const asked = [...wanted.values()].map((each) => each.asked);
  const plan = planTree(owner, asked, rows);
  if ("changes" in plan) return { plan, wanted, isNew: !rows.some((row) => row.tree === owner.tree) };
  throw plan.owner?.tree === owner.tree ? ofAnotherFile(plan.owner) : taken(plan.worker);
};

/** Their names are free then. Throws before any is disowned if one still stops on its node: started here it would run twice. */
const endPlacedOf = async (
  store: TreeDesk,
  tree: string,
  names: readonly string[],
  killer: Killer,
): Promise<void> => {
  const ending = new Set(names);
  for (const worker of names) await store.retire(worker, tree, killer);
  const rows = await untilNone(store, tree, (row) => ending.has(row.worker) && stops(row));
  const left = rows.find(({ worker, is_over }) => ending.has(worker) && !is_over);
  if (left !== undefined) throw stops(left) ? stillStops(tree, left) : placedAgain(tree, left);
  for (const worker of names) await store.disown(worker, tree);
};

/** Resolves once each runs, or waits for a node: these are the answer. Throws WORKER_FAILED if a node cannot start one. */
const startPlaced = async (
  store: TreeDesk,
  owner: TreeOwner,
  { plan, wanted }: TreeAtDesk,
  by: string,
): Promise<readonly WaitingWorker[]> => {
  for (const worker of plan.replace) await store.retire(worker, owner.tree, { by, reason: CHANGED });
  await placeAll(store, owner, plan.place, wanted);
  const waited = new Set(await placesExist(store, plan.place, wanted));
  const rows = await untilNone(
    store,
    owner.tree,
    (row) => waited.has(row.worker) && row.desired === "running" && row.worker_id === null,
  );
  const failed = rows.find(({ worker, why }) => plan.place.includes(worker) && why !== null);
  if (failed !== undefined) throw notStarted(owner, failed);
  return (await waitingIn(store)).filter(({ name }) => wanted.has(name));
};

/** A worker that was killed frees its name within moments. One that another `agent up` of the file has placed alike is done. */
const placeAll = async (
  store: TreeDesk,
  owner: TreeOwner,
  names: readonly string[],
  wanted: TreeAtDesk["wanted"],
): Promise<void> => {
  let left = names;
  for (let ms = CLUSTER_ANSWER_OF_NODE_MS; left.length > 0; ms -= CLUSTER_ASK_NODE_MS) {
    const refused: string[] = [];
    for (const name of left) {
      const { asked, text } = wanted.get(name)!;
      if (!(await store.place(asked, text, null, owner))) refused.push(name);
    }
    const rows = refused.length === 0 ? [] : await store.ofTree(owner.tree, refused);
    const known = new Map(rows.map((row) => [row.worker, row]));
    const isDone = (row: OwnedRow | undefined): boolean =>
      row?.desired === "running" &&
      isOf(row, owner) &&
      row.spec_digest === wanted.get(row.worker)!.asked.spec_digest;
    left = refused.filter((name) => !isDone(known.get(name)));
    const held = left.find((name) => known.get(name)?.desired === "running");
    const other = held === undefined ? undefined : known.get(held);
    if (other !== undefined) throw isOf(other, owner) ? placedAgain(owner.tree, other) : taken(other.worker);
    const late = ms <= 0 ? left[0] : undefined;
    if (late !== undefined) throw lateFor(owner.tree, late, known.get(late));
    if (left.length > 0) await sleep(CLUSTER_ASK_NODE_MS);
  }
};

/** Those for which the cluster has a node: nobody waits for the others. */
const placesExist = async (
  store: TreeDesk,
  names: readonly string[],
  wanted: TreeAtDesk["wanted"],
): Promise<readonly string[]> => {
  const fits = new Map<string, boolean>();
  for (const name of names) {
    const { needs } = wanted.get(name)!.asked;
    const key = JSON.stringify(needs);
    if (!fits.has(key)) fits.set(key, !(await fitsNowhere(store, needs)));
  }
  return names.filter((name) => fits.get(JSON.stringify(wanted.get(name)!.asked.needs)));
};

/** The rows of a tree once none is as `isWaited` says, or after the time that a node has for an answer. */
const untilNone = (
  store: TreeDesk,
  tree: string,
  isWaited: (row: OwnedRow) => boolean,
): Promise<readonly OwnedRow[]> =>
  untilAnswered(
    () => store.ofTree(tree, []),
    (rows) => !rows.some(isWaited),
  );

/** The workers of a tree that is taken down, by the file that owns it if the caller knows one. */
const workersOf = async (
  store: TreeDesk,
  tree: string,
  file: string | undefined,
): Promise<readonly OwnedRow[]> =>
  (await store.ofTree(tree, [])).filter((row) => file === undefined || row.file === file);

const takenDown = ({ worker, desired, node }: OwnedRow): TreeChange => ({
  path: worker,
  action: "remove",
  reason: TAKEN_DOWN,
  ...(desired === "running" && node !== null ? { node } : {}),
});

const stops = ({ desired, is_over }: OwnedRow): boolean => desired === "killed" && !is_over;

const lateFor = (tree: string, worker: string, row: OwnedRow | undefined): HoldfastError =>
  row !== undefined && stops(row) ? stillStops(tree, row) : taken(worker);

const stillStops = (tree: string, { worker, node }: OwnedRow): HoldfastError =>
  new HoldfastError("TIMEOUT", `The worker ${worker} of ${tree} still stops on the node ${node}.`, {
    suggestion: `Run the same command again when it has ended. If that machine is gone: agent cluster leave --gone ${node}`,
    details: { path: worker },
  });

const placedAgain = (tree: string, { worker }: OwnedRow): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Another \`agent up\` of ${tree} has placed ${worker} meanwhile.`, {
    suggestion: "Run the same command again: the newest one says what runs.",
    details: { path: worker, cause: "placed_meanwhile" },
  });

const notStarted = ({ tree }: TreeOwner, { worker, node, why }: OwnedRow): HoldfastError =>
  new HoldfastError(
    "WORKER_FAILED",
    `${tree} is not whole: the node ${node} did not start ${worker}: ${why}`,
    {
      suggestion: "Mend that on the node, or name another one in its placement, then: agent up",
      details: { path: worker },
    },
  );

const ofAnotherFile = ({ tree, file }: TreeOwner): HoldfastError =>
  new HoldfastError("ALREADY_EXISTS", `The tree "${tree}" of the cluster belongs to ${file}.`, {
    suggestion: `Give this file another \`name\`, or take that one down with \`agent down ${tree}\`.`,
  });
