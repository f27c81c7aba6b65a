/** The views of several hosts as one: names bear their host, and so do the ids of supervisors, which are unique only there. Pure. */
import type { TreeNode, TreeSupervisor, WorkerView } from "../../runtime/replies.ts";
import { refOf, type TopView } from "./state.ts";

const nodeOf = <N extends TreeNode>(host: string, node: N): N => ({
  ...node,
  name: `${host}/${refOf(node)}`,
  ...(node.type === "supervisor" && { id: `${host}/${node.id}` }),
  children: node.children.map((child) => nodeOf(host, child)),
});

/** The id that the host itself knows. */
export const idAt = (host: string, id: string): string =>
  id.startsWith(`${host}/`) ? id.slice(host.length + 1) : id;

export const isOf = (host: string, view: TopView, id: string): boolean =>
  id.startsWith(`${host}/`) || view.workers.some((worker) => worker.id === id);

/** Everything that the hosts have, in their order; undefined without a host. */
export const together = (
  views: readonly { readonly host: string; readonly view: TopView }[],
): { readonly root: TreeSupervisor; readonly workers: readonly WorkerView[] } | undefined => {
  const [first] = views;
  if (first === undefined) return undefined;
  const children = views.flatMap(({ host, view }) => view.root.children.map((child) => nodeOf(host, child)));
  const workers = views.flatMap(({ view }) => view.workers);
  return { root: { ...first.view.root, children }, workers };
};
