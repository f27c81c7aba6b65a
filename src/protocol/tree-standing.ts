/**
 * Whether a tree is as its file says: a pure reading of `agent tree`. A worker that was killed by hand stays dead, and
 * nobody waits for it.
 */
import type { WorkerError } from "./completion.ts";
import { HoldfastError } from "./errors.ts";
import type { TreeNode, TreeSupervisor, TreeWorker } from "./replies/trees.ts";

type NodePhase = NonNullable<TreeSupervisor["phase"]>;

export type TreeStanding =
  | { readonly is: "on its way" }
  | { readonly is: "up"; readonly state: NodePhase }
  /** The daemon no longer has the tree. */
  | { readonly is: "gone"; readonly state: NodePhase }
  /** The whole tree was killed by name; only a start by name revives it. */
  | { readonly is: "killed"; readonly state: NodePhase; readonly path: string }
  | {
      readonly is: "failed";
      readonly state: NodePhase;
      /** In start order. Only their errors tell which failed first, and which were stopped with it. */
      readonly workers: readonly FailedWorker[];
      /** The supervisor that gave up; null if all run. */
      readonly supervisor: { readonly path: string; readonly reason: string } | null;
    };

interface FailedWorker {
  readonly path: string;
  readonly id: string;
  readonly reason: string;
}

interface PathNode<N extends TreeNode = TreeNode> {
  readonly path: string;
  readonly node: N;
}

/** In start order. The children of a dynamic supervisor are not in the file. */
const membersOf = (node: TreeNode, above: string, tree: string): readonly PathNode[] => {
  if (node.type === "worker" || node.strategy === "dynamic") return [];
  return node.children.flatMap((child) => {
    if (child.tombstone) return [];
    const path = above === tree ? (child.name ?? child.id) : `${above}/${child.name ?? child.id}`;
    return [{ path, node: child }, ...membersOf(child, path, tree)];
  });
};

const ON_ITS_WAY: readonly (string | undefined)[] = [
  "pending",
  "starting",
  "restarting",
  "backing_off",
  "stopping",
] satisfies (NodePhase | TreeWorker["state"])[];
const FAILED: readonly (string | undefined)[] = ["failed", "parked", "lost"] satisfies TreeWorker["state"][];

const isWorker = (member: PathNode): member is PathNode<TreeWorker> => member.node.type === "worker";
const isSupervisor = (member: PathNode): member is PathNode<TreeSupervisor> => !isWorker(member);
const hasFailed = ({ node }: PathNode<TreeWorker>): boolean => FAILED.includes(node.state);

/** A supervisor that ended without a failure below it has finished, as a job does: its significant child has ended. */
const gaveUp = ({ path, node }: PathNode<TreeSupervisor>, tree: string): boolean =>
  node.phase === "parked" ||
  (node.phase === "terminated" &&
    (node.strategy === "dynamic" || membersOf(node, path, tree).filter(isWorker).some(hasFailed)));

/** The top supervisor of a tree, below the root. */
export const treeIn = (root: TreeSupervisor, tree: string): TreeSupervisor | undefined =>
  root.children.find((node) => node.type === "supervisor" && node.name === tree) as
    | TreeSupervisor
    | undefined;

/** The members of a tree that are no longer on their way up, and all of them. */
export const countUp = (top: TreeSupervisor): { readonly up: number; readonly all: number } => {
  const tree = top.name ?? top.id;
  const workers = membersOf(top, tree, tree).filter(isWorker);
  const onTheirWay = workers.filter(({ node }) => ON_ITS_WAY.includes(node.state));
  return { up: workers.length - onTheirWay.length, all: workers.length };
};

export const progressOf = (top: TreeSupervisor | undefined): TreeStanding => {
  if (top === undefined) return { is: "gone", state: "terminated" };
  const tree = top.name ?? top.id;
  const state = top.phase ?? "running";
  if (ON_ITS_WAY.includes(state)) return { is: "on its way" };
  const members = membersOf(top, tree, tree);
  const stateOf = ({ node }: PathNode): string | undefined =>
    node.type === "supervisor" ? node.phase : node.state;
  if (state === "running" && members.some((member) => ON_ITS_WAY.includes(stateOf(member))))
    return { is: "on its way" };
  if (top.tombstone === true) return { is: "killed", state, path: tree };
  const workers = members.filter(isWorker).filter(hasFailed);
  const supervisors = [{ path: tree, node: top }, ...members.filter(isSupervisor)];
  const supervisor = supervisors.find((member) => gaveUp(member, tree));
  if (workers.length === 0 && supervisor === undefined) return { is: "up", state };
  return {
    is: "failed",
    state,
    workers: workers.map(({ path, node }) => ({ path, id: node.id, reason: reasonOf(node) })),
    supervisor:
      supervisor === undefined ? null : { path: supervisor.path, reason: reasonOf(supervisor.node) },
  };
};

const reasonOf = (node: TreeNode): string =>
  node.reason || (node.type === "worker" ? node.state : (node.phase ?? "down"));

export type FinalStanding = Exclude<TreeStanding, { readonly is: "on its way" }>;

/** A worker of a tree that did not come up, with its last error. */
export interface Culprit extends FailedWorker {
  readonly error: WorkerError | null;
}

/**
 * The first worker that failed by itself: a worker that was only stopped with its supervisor does not explain the failure.
 * One without an error counts if it has run, and only if no other is to blame.
 */
export const culpritOf = (
  workers: readonly (Culprit & { readonly incarnation: number })[],
): Culprit | undefined =>
  workers.find(({ error }) => error !== null && error.code !== "WORKER_CANCELLED") ??
  workers.find(({ error, incarnation }) => error === null && incarnation > 0);

/** Why a tree is not up. */
export const notUp = (
  tree: string,
  standing: Exclude<FinalStanding, { readonly is: "up" }>,
  culprit: Culprit | undefined,
): HoldfastError => {
  if (standing.is === "gone")
    return new HoldfastError("INVALID_STATE", `The tree ${tree} was taken down meanwhile.`, {
      suggestion: "Bring it up again with: agent up",
    });
  if (standing.is === "killed")
    return new HoldfastError("INVALID_STATE", `${standing.path} was killed by name, and stays dead.`, {
      suggestion: `Start it with: agent restart ${standing.path}`,
      details: { path: standing.path },
    });
  const { supervisor, state } = standing;
  const suggestionFor = (path: string): string =>
    `See the decisions in order with: agent why ${path}   Mend the cause, then: ${state === "running" ? `agent restart ${path}` : "agent up"}`;
  if (culprit !== undefined) {
    const { path, error, reason } = culprit;
    const what = error === null ? `is ${reason}` : `failed: ${error.message.replace(/\.$/, "")}`;
    return new HoldfastError("WORKER_FAILED", `${tree} is not whole: ${path} ${what}.`, {
      suggestion: suggestionFor(path),
      details: { path, error },
    });
  }
  const { path, reason } = supervisor ?? { path: tree, reason: state };
  return new HoldfastError("SUPERVISOR_GAVE_UP", `${path} has given up: ${reason}.`, {
    suggestion: suggestionFor(path),
    details: { path },
  });
};
