/**
 * The workers of a file that a cluster places (decision 0083). They belong to the file, and their node restarts them: no
 * supervisor of the file does. A file that asks for more than that is refused. Pure.
 */
import { CLUSTER_TREE_BUDGET_WORKERS_MAX } from "../base/limits.ts";
import type { SupervisorNode, TreeNodeSpec, TreeSpec, WorkerNode } from "./tree.ts";
import type { TreeBudget, WorkerSpec } from "./worker.ts";

export interface PlacementProblem {
  /** The node of the tree, by its path; empty for the top. */
  readonly path: string;
  /** The key that cannot be kept. */
  readonly key: string;
  /** A sentence without its full stop. */
  readonly message: string;
}

const isPlaced = (node: TreeNodeSpec): node is WorkerNode =>
  node.type === "worker" && node.spec.placement !== undefined;

/** Keys of the file that cannot be kept for a worker of another node. */
export const placementProblems = ({ root }: Pick<TreeSpec, "root">): readonly PlacementProblem[] => {
  const placed = root.children.filter(isPlaced);
  return [
    ...placed.flatMap(ofWorker),
    ...(placed.length === 0 ? [] : ofTop(root, placed.length)),
    ...ofOthers(root, "", new Set(placed.map(({ name }) => name))),
  ];
};

const ofWorker = ({ name, spec, depends_on }: WorkerNode): readonly PlacementProblem[] => {
  const told: readonly (readonly [key: string, isAsked: boolean, message: string])[] = [
    ["depends_on", depends_on.length > 0, "depends_on orders workers of one machine, and the cluster places"],
    ["ready", spec.ready !== undefined, "ready is what the next child waits for, and none waits for"],
    ["significant", spec.significant, "significant ends the supervisor, which does not see the end of"],
  ];
  return told.flatMap(([key, isAsked, message]) =>
    isAsked ? [{ path: name, key, message: `${message} ${name}` }] : [],
  );
};

const ofTop = ({ config }: SupervisorNode, placed: number): readonly PlacementProblem[] => {
  const { strategy, decay_ms, auto_shutdown, budget } = config;
  const told: readonly (readonly [key: string, isAsked: boolean, message: string])[] = [
    [
      "strategy",
      strategy !== "one_for_one",
      `strategy ${strategy} restarts siblings together, and a worker with placement may run on another node; use one_for_one`,
    ],
    [
      "decay",
      decay_ms > 0,
      "decay does not count the restarts of a worker with placement, whose node counts them; use intensity",
    ],
    [
      "auto_shutdown",
      auto_shutdown !== "never",
      "auto_shutdown ends all children, and no supervisor ends a worker with placement",
    ],
    [
      "budget",
      budget !== undefined && placed > CLUSTER_TREE_BUDGET_WORKERS_MAX,
      `budget is shared by at most ${CLUSTER_TREE_BUDGET_WORKERS_MAX} workers with placement; give a budget to each worker`,
    ],
  ];
  return told.flatMap(([key, isAsked, message]) => (isAsked ? [{ path: "", key, message }] : []));
};

/** Workers deeper in the tree, and those that wait for a placed one. */
const ofOthers = (
  { children }: SupervisorNode,
  above: string,
  placed: ReadonlySet<string>,
): readonly PlacementProblem[] =>
  children.flatMap((node) => {
    const path = above === "" ? node.name : `${above}/${node.name}`;
    const awaited = isPlaced(node) ? undefined : node.depends_on.find((each) => placed.has(each));
    const waiting =
      awaited === undefined
        ? []
        : [
            {
              path,
              key: "depends_on",
              message: `depends_on: ${awaited} has a placement, so nobody here sees it start`,
            },
          ];
    const deeper =
      above !== "" && isPlaced(node)
        ? [{ path, key: "placement", message: "placement is for a child of the top supervisor" }]
        : [];
    return [...waiting, ...deeper, ...(node.type === "supervisor" ? ofOthers(node, path, placed) : [])];
  });

export interface SplitTree {
  /** The tree without its placed workers. */
  readonly here: TreeSpec;
  /** Each is spawned by its name; the intensity of the top is that of each alone. */
  readonly placed: readonly WorkerSpec[];
  /** The budget of all of them and of the rest of the tree together. */
  readonly budget: TreeBudget | undefined;
}

export const splitTree = (tree: TreeSpec): SplitTree => {
  const { root } = tree;
  const { max_restarts, period_ms } = root.config;
  const { budget_of_cluster: _, ...own } = root.config;
  const children = root.children.filter((node) => !isPlaced(node));
  const budget = children.length < root.children.length ? budgetOf(tree) : undefined;
  const config = budget === undefined ? own : { ...own, budget_of_cluster: true as const };
  const here = { ...tree, root: { ...root, config, children } };
  const placed = root.children.filter(isPlaced).map(({ name, spec }) => ({
    ...spec,
    name,
    supervisor: "root",
    max_restarts,
    restart_period_ms: period_ms,
  }));
  return { here, placed, budget };
};

const budgetOf = ({ name, root: { config } }: TreeSpec): TreeBudget | undefined => {
  const { budget, on_breach = "ask" } = config;
  const isBound = budget !== undefined && Object.values(budget).some((bound) => bound !== undefined);
  return isBound ? { name, budget, on_breach } : undefined;
};
