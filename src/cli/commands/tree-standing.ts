/**
 * Whether a tree is as its file says: a pure reading of `agent tree`. A worker that was killed by hand stays dead, and the
 * command does not wait for it.
 */
import type { TreeNode } from "../../runtime/api.ts";

type NodePhase = NonNullable<TreeNode["phase"]>;

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

export interface FailedWorker {
  readonly path: string;
  readonly id: string;
  readonly reason: string;
}

interface PathNode {
  readonly path: string;
  readonly node: TreeNode;
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
] satisfies (NodePhase | TreeNode["state"])[];
const FAILED: readonly (string | undefined)[] = ["failed", "parked", "lost"] satisfies TreeNode["state"][];

const isWorker = ({ node }: PathNode): boolean => node.type === "worker";
const hasFailed = ({ node }: PathNode): boolean => FAILED.includes(node.state);

/** A supervisor that ended without a failure below it has finished, as a job does: its significant child has ended. */
const gaveUp = ({ path, node }: PathNode, tree: string): boolean =>
  node.phase === "parked" ||
  (node.phase === "terminated" &&
    (node.strategy === "dynamic" ||
      membersOf(node, path, tree).some((member) => isWorker(member) && hasFailed(member))));

export const progressOf = (top: TreeNode | undefined): TreeStanding => {
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
  const workers = members.filter((member) => isWorker(member) && hasFailed(member));
  const supervisors = [{ path: tree, node: top }, ...members.filter((member) => !isWorker(member))];
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

const reasonOf = ({ reason, state, phase }: TreeNode): string => reason || (state ?? phase ?? "down");
