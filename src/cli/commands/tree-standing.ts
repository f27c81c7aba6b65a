/** Whether a tree is as its file says: a pure reading of `agent tree`. A worker that is killed by hand stays dead, and is not waited for. */
import type { TreeNode } from "../../runtime/api.ts";

type Phase = NonNullable<TreeNode["phase"]>;

export type Standing =
  | { readonly is: "on its way" }
  | { readonly is: "up"; readonly state: Phase }
  /** Nobody knows the tree any more. */
  | { readonly is: "gone"; readonly state: Phase }
  /** Killed by name as a whole: only a start by name lifts it. */
  | { readonly is: "killed"; readonly state: Phase; readonly path: string }
  | {
      readonly is: "failed";
      readonly state: Phase;
      /** In start order. Whose failure it was, and who went down with it, only their errors tell. */
      readonly workers: readonly FailedWorker[];
      /** That gave up; null while all of them run. */
      readonly supervisor: { readonly path: string; readonly reason: string } | null;
    };

export interface FailedWorker {
  readonly path: string;
  readonly id: string;
  readonly reason: string;
}

interface Member {
  readonly path: string;
  readonly node: TreeNode;
}

/** In start order. The children of a dynamic supervisor are nobody's in the file. */
const membersOf = (node: TreeNode, above: string, tree: string): readonly Member[] => {
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
] satisfies (Phase | TreeNode["state"])[];
const FAILED: readonly (string | undefined)[] = ["failed", "parked", "lost"] satisfies TreeNode["state"][];

const isWorker = ({ node }: Member): boolean => node.type === "worker";
const hasFailed = ({ node }: Member): boolean => FAILED.includes(node.state);

/** One that ended without a failure below it is over, as a job is: its significant child has ended. */
const gaveUp = ({ path, node }: Member, tree: string): boolean =>
  node.phase === "parked" ||
  (node.phase === "terminated" &&
    (node.strategy === "dynamic" ||
      membersOf(node, path, tree).some((member) => isWorker(member) && hasFailed(member))));

export const progressOf = (top: TreeNode | undefined): Standing => {
  if (top === undefined) return { is: "gone", state: "terminated" };
  const tree = top.name ?? top.id;
  const state = top.phase ?? "running";
  if (ON_ITS_WAY.includes(state)) return { is: "on its way" };
  const members = membersOf(top, tree, tree);
  const stateOf = ({ node }: Member): string | undefined =>
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
