/** The desk of a node: it takes what people ask of its cluster, such as a place for a worker, the end of one, or a drain. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  CLUSTER_ANSWER_OF_NODE_MS,
  CLUSTER_ASK_NODE_MS,
  CLUSTER_WAITING_SHOWN_MAX,
} from "../../base/limits.ts";
import { UNPLACED } from "../../cluster/drain.ts";
import { fateOf } from "../../cluster/fate.ts";
import type { PlacedRow, RequestedRow } from "../../cluster/postgres/answers.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { Killer, NewPlacement, NodeInView, NodeLabels, Placement } from "../../cluster/rows.ts";
import { askedSession, sessionInUseAt } from "../../protocol/asked-session.ts";
import { canonicalDigest, sha256Digest } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { ClusterStatus, NodeChange } from "../../protocol/replies/cluster.ts";
import type { TreeBudget, WorkerSpec } from "../../protocol/worker.ts";
import type { PerWorker, SpawnReply } from "../../runtime/api.ts";
import { keyReused } from "../../runtime/idempotency.ts";
import type { AskedPlace } from "../cluster-api.ts";
import { noSuchNode } from "./refusals.ts";
import { placedText } from "./spec.ts";

export type Desk = Pick<
  PostgresStore,
  | "place"
  | "placed"
  | "nodes"
  | "placedBy"
  | "kill"
  | "killAgain"
  | "declareGone"
  | "view"
  | "waiting"
  | "sessionHolder"
>;

/** A worker without a name gets one, because the name is the key of a placement. */
export const placeWorker = async (
  store: Desk,
  { spec, dry_run, idempotency_key }: Omit<AskedPlace, "caller">,
): Promise<SpawnReply> => {
  const { kind } = spec;
  if (spec.supervisor !== "root") throw refusal("a worker of a tree runs where its tree is");
  const worker = spec.name ?? nameFor(idempotency_key);
  if (worker.includes("/")) throw refusal("its name has a slash, as only a worker of a tree has");
  const { asked, text } = placementOf(worker, spec);
  const { spec_digest } = asked;
  const reply = { id: worker, name: worker, kind };
  await refuseSession(store, worker, spec);
  if (dry_run) return { ...reply, status: "pending", effect: "would_create" };
  const isRepeat = async (): Promise<boolean> =>
    (await requestedBefore(store, spec_digest, idempotency_key)) !== undefined;
  const earlier = await requestedBefore(store, spec_digest, idempotency_key);
  if (earlier?.is_reused)
    return { ...reply, id: earlier.worker_id ?? worker, status: endedAs(earlier), effect: "noop" };
  const isNew = earlier === undefined && (await placedAnew(store, asked, text, requestOf(idempotency_key)));
  // The same request may have come at the same time.
  if (!isNew && !(await isRepeat())) throw taken(worker);
  const row = await untilBegun(store, worker, asked.needs);
  if (row?.why != null)
    throw new HoldfastError("INVALID_STATE", `The node ${row.node} did not start it: ${row.why}`, {
      suggestion: "Mend that on the node, or name another one: agent spawn --where node=NAME",
    });
  const effect = isNew ? ("created" as const) : ("noop" as const);
  if (row?.worker_id != null && row.node !== null)
    return { ...reply, id: row.worker_id, node: row.node, status: STATUS[row.desired], effect };
  const waiting = (await waitingIn(store)).find(({ name }) => name === worker);
  return { ...reply, status: "pending", effect, waits_for: waiting?.why ?? "soon" };
};

/** Throws SESSION_IN_USE as a start on one machine would. Its node asks again, since others may ask at the same time. */
const refuseSession = async (store: Desk, worker: string, spec: WorkerSpec): Promise<void> => {
  const session_id = askedSession(spec);
  if (session_id === undefined) return;
  const holder = await store.sessionHolder({ kind: spec.kind, session_id });
  if (holder !== undefined && holder.worker !== worker)
    throw sessionInUseAt(session_id, holder.worker, holder.node);
};

const requestOf = (key: string | undefined): string | null => (key === undefined ? null : sha256Digest(key));

/** A key is one of a request in the whole cluster. Throws VERSION_CONFLICT for another request with it. */
const requestedBefore = async (
  store: Desk,
  spec_digest: string,
  key: string | undefined,
): Promise<RequestedRow | undefined> => {
  if (key === undefined) return undefined;
  const earlier = await store.placedBy(sha256Digest(key));
  if (earlier !== undefined && earlier.spec_digest !== spec_digest) throw keyReused(key);
  return earlier;
};

/** The row of a worker, and its spec. */
export const placementOf = (worker: string, spec: WorkerSpec, budget?: TreeBudget) => {
  const { needs, on_partition } = spec.placement ?? { needs: {}, on_partition: "stop" as const };
  const text = placedText(worker, spec, budget);
  // Another sum is no other worker: its nodes hear of it from the rows of the budget.
  const same = budget === undefined ? text : placedText(worker, spec, { ...budget, budget: onesOf(budget) });
  const spec_digest = canonicalDigest({ needs, on_partition, text: same });
  return { asked: { worker, spec_digest, on_partition, needs }, text };
};

const onesOf = ({ budget }: TreeBudget): TreeBudget["budget"] =>
  Object.fromEntries(Object.keys(budget).map((field) => [field, 1]));

/** By the placement alone; its node has the whole of it. */
const STATUS = { running: "running", ended: "completed", killed: "cancelled" } as const;

/** The node of a worker that was killed tells within moments that its name is free. */
const placedAnew = async (
  store: Desk,
  asked: NewPlacement,
  text: string,
  request: string | null,
): Promise<boolean> => {
  for (let left = CLUSTER_ANSWER_OF_NODE_MS; ; left -= CLUSTER_ASK_NODE_MS) {
    if (await store.place(asked, text, request)) return true;
    const desired = (await store.placed(asked.worker))?.desired;
    // It may have ended between the two.
    if (desired === "ended") return store.place(asked, text, request);
    if (left <= 0 || desired !== "killed") return false;
    await sleep(CLUSTER_ASK_NODE_MS);
  }
};

const nameFor = (key: string | undefined): string =>
  `placed-${key === undefined ? newId(Date.now()).toLowerCase() : sha256Digest(key).slice(-26)}`;

/** Looks until it has the answer, or until a node has had its time for one; resolves with the last look. */
export const untilAnswered = async <Seen>(
  look: () => Promise<Seen>,
  isAnswer: (seen: Seen) => boolean,
): Promise<Seen> => {
  for (let left = CLUSTER_ANSWER_OF_NODE_MS; ; left -= CLUSTER_ASK_NODE_MS) {
    const seen = await look();
    if (left <= 0 || isAnswer(seen)) return seen;
    await sleep(CLUSTER_ASK_NODE_MS);
  }
};

/** At once where no node has what it needs: there is nothing to wait for. */
const untilBegun = async (store: Desk, worker: string, needs: NodeLabels): Promise<PlacedRow | undefined> => {
  const first = await store.placed(worker);
  if (first?.node === null && first.desired === "running" && (await fitsNowhere(store, needs))) return first;
  const hasBegun = (row: PlacedRow | undefined): boolean =>
    row === undefined || row.desired !== "running" || row.worker_id !== null;
  return untilAnswered(() => store.placed(worker), hasBegun);
};

export const fitsNowhere = async (store: Desk, needs: NodeLabels): Promise<boolean> => {
  // A dead node may be back in a moment, as after a restart of its daemon.
  const nodes = (await store.nodes()).map((node) =>
    node.state === "dead" ? { ...node, state: "active" as const } : node,
  );
  return isNowhere({ needs }, nodes);
};

/** No node has its labels. */
export const isNowhere = (
  placement: Pick<Placement, "needs"> & Partial<Placement>,
  nodes: readonly NodeInView[],
): boolean => {
  const fate = fateOf({ ...UNPLACED, ...placement }, nodes);
  return fate.type === "asks" && fate.why === "nowhere";
};

/** The first workers that no node holds, each with its reason. */
export const waitingIn = async (store: Desk): Promise<NonNullable<ClusterStatus["waiting"]>> => {
  const rows = await store.waiting(CLUSTER_WAITING_SHOWN_MAX);
  if (rows.length === 0) return [];
  const { nodes } = await store.view("");
  return rows.map((row) => {
    const fate = fateOf({ ...UNPLACED, ...row }, nodes);
    return { name: row.worker, why: fate.type === "asks" ? fate.why : "soon" };
  });
};

/** A worker that neither completed nor was killed has failed. */
const endedAs = ({ over, killer }: Pick<PlacedRow, "over"> & { readonly killer?: Killer | null }) =>
  over === "completed" ? "completed" : over === "killed" || killer != null ? "cancelled" : "failed";

/** Undefined: no worker of that name is placed. */
export const killPlaced = async (
  store: Pick<Desk, "placed" | "kill" | "killAgain">,
  worker: string,
  { killer, dry_run }: { readonly killer: Killer; readonly dry_run: boolean },
  isOverHere: (row: PlacedRow) => Promise<boolean>,
): Promise<PerWorker | undefined> => {
  const before = await store.placed(worker);
  if (before === undefined) return undefined;
  const name = before.worker;
  const told = { id: before.worker_id ?? name, name, ok: true, status: null, error: null };
  // The node may still have to tell of an end.
  const isDone = before.desired === "ended" || (before.desired === "killed" && (await isOverHere(before)));
  if (isDone) return { ...told, effect: "noop", status: endedAs(before) };
  const isFirst = before.desired === "running";
  if (dry_run) return { ...told, effect: isFirst ? "would_delete" : "noop", status: STATUS[before.desired] };
  const isOver = (row: PlacedRow | undefined): boolean =>
    row === undefined || row.desired === "ended" || row.node === null;
  const effect = isFirst || !isOver(before) ? "deleted" : "noop";
  await (isFirst ? store.kill(name, killer) : store.killAgain(name));
  const last = await untilAnswered(() => store.placed(name), isOver);
  const checked_by = last?.checked_by == null ? {} : { checked_by: last.checked_by };
  if (isOver(last)) return { ...told, effect, status: "cancelled", ...checked_by };
  // Its node is away. It stops there before its lease is over, and starts nowhere.
  return { ...told, effect };
};

export const nodeIsGone = async (store: Desk, node: string): Promise<NodeChange> => {
  if (await store.declareGone(node)) return { name: node, effect: "deleted" };
  const there = (await store.nodes()).find(({ id }) => id === node);
  if (there === undefined) throw noSuchNode(node);
  if (there.state === "left") return { name: node, effect: "noop" };
  throw new HoldfastError("INVALID_STATE", `The node ${node} renews its lease, so its machine is not gone.`, {
    suggestion: "A node that has stopped renewing is dead 8 s later: agent cluster status",
  });
};

export const taken = (worker: string): HoldfastError =>
  new HoldfastError("ALREADY_EXISTS", `The cluster has placed a worker ${worker} already.`, {
    suggestion: "Give this one another name, or end that one: agent kill NAME",
  });

const refusal = (why: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `It cannot be placed: ${why}.`, { phase: "validation" });
