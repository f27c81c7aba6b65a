/** Whether a tree is as its file says: a pure reading of `agent tree`. What is killed by hand stays dead, and is not waited for. */
import type { TreeNode } from "../../supervisor/facade.ts";

type Phase = NonNullable<TreeNode["phase"]>;

export type Standing =
  | { readonly is: "on its way" }
  | { readonly is: "up"; readonly state: Phase }
  /** Nobody knows the tree any more. */
  | { readonly is: "gone"; readonly state: Phase }
  | {
      readonly is: "failed";
      readonly state: Phase;
      readonly path: string;
      readonly id: string;
      readonly isSupervisor: boolean;
      readonly reason: string;
    };

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
const DOWN: readonly (string | undefined)[] = ["failed", "parked", "lost", "terminated"] satisfies (
  | Phase
  | TreeNode["state"]
)[];

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
  const isDown = (member: Member): boolean => DOWN.includes(stateOf(member));
  // A worker says more than the supervisor that gave up because of it.
  const failed =
    members.find((member) => member.node.type === "worker" && isDown(member)) ?? members.find(isDown);
  if (failed === undefined && state === "running") return { is: "up", state };
  const { path, node } = failed ?? { path: tree, node: top };
  return {
    is: "failed",
    state,
    path,
    id: node.id,
    isSupervisor: node.type === "supervisor",
    reason: node.reason || (stateOf({ path, node }) ?? state),
  };
};
