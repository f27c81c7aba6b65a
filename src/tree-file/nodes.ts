/** Turns located nodes into the tree that goes over the wire: decides which are supervisors and which workers, and checks each. */
import type * as z from "zod";
import { NAME_MAX_BYTES, PATH_MAX_BYTES, TREE_DEPTH_MAX, TREE_NODES_MAX } from "../base/limits.ts";
import { nearest } from "../base/suggest.ts";
import { PROGRAM_KIND } from "../commands/kinds.ts";
import { placementProblems } from "../protocol/placed-tree.ts";
import { SupervisorConfig, type SupervisorNode, type TreeNodeSpec } from "../protocol/tree.ts";
import type { RestartPolicy } from "../protocol/worker.ts";
import type { Hosts } from "./hosts.ts";
import {
  describe,
  type FilePlace,
  type LocatedMap,
  type LocatedValue,
  placeOfKey,
  valueAt,
  withoutKeys,
} from "./located.ts";
import { RootKeys, SupervisorKeys, TEXT_KEYS, WorkerKeys } from "./schema.ts";
import { entriesOf, type NodeScope, type Sources } from "./sources.ts";
import { PROGRAM_WORDS, workerSpec } from "./workers.ts";
import { checkKeys, isWritten, plainKeys, type Subject } from "./zod-problems.ts";

export interface Walk {
  readonly sources: Sources;
  readonly hosts: Hosts;
  readonly tree: string;
  /** By path, in the order of the file; the top has the empty path. */
  readonly nodes: Map<string, LocatedMap>;
  /** The number of all nodes, including those without a name. */
  count: number;
}

const workerKeys = Object.keys(WorkerKeys.shape);
const supervisorKeys = [...Object.keys(SupervisorKeys.shape), "children"];
const only = (keys: readonly string[], others: readonly string[], words: string): Record<string, string> =>
  Object.fromEntries(keys.filter((key) => !others.includes(key)).map((key) => [key, words]));

const WORKER: Subject = {
  what: "a worker",
  keys: workerKeys,
  elsewhere: {
    ...only(supervisorKeys, workerKeys, "that is for a supervisor, which has children"),
    max_restarts: "its restarts count in the intensity of its supervisor",
  },
  instead: PROGRAM_WORDS,
};
const SUPERVISOR: Subject = {
  what: "a supervisor",
  keys: supervisorKeys,
  elsewhere: only(workerKeys, supervisorKeys, "that is for a worker, which has no children"),
};
const ROOT: Subject = {
  what: "the top supervisor",
  keys: [...Object.keys(RootKeys.shape), "children"],
  elsewhere: {
    ...only(workerKeys, [], "that is for a node below children"),
    name: "the tree's name stands beside version",
  },
};

const configOf = (keys: Partial<SupervisorKeys>): SupervisorConfig => {
  const { intensity, decay, backoff, strategy, on_intensity, auto_shutdown, restart, significant } = keys;
  const { budget, on_breach } = keys;
  const fields = {
    strategy,
    max_restarts: intensity?.max,
    period_ms: intensity?.period_ms,
    decay_ms: decay,
    backoff_min_ms: backoff?.min_ms,
    backoff_max_ms: backoff?.max_ms,
    on_intensity,
    auto_shutdown,
    budget,
    on_breach,
    restart,
    significant,
  };
  return SupervisorConfig.parse(
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  );
};

/** Reports the mistakes of a node. The node stays in the tree with its correct keys, so that the rest is checked too. */
const keysOf = <S extends z.ZodObject>(
  schema: S,
  node: LocatedMap,
  subject: Subject,
  path: string,
  { sources: { problems } }: Walk,
): ReturnType<typeof checkKeys<S>> =>
  checkKeys(schema, node, plainKeys(withoutKeys(node, ["children"]), TEXT_KEYS), subject, problems, path);

export const readRoot = (node: LocatedValue, within: NodeScope, walk: Walk): SupervisorNode | undefined => {
  const { problems } = walk.sources;
  if (node.type !== "map") {
    problems.add(node.place, `tree needs a strategy and children, not ${describe(node)}`);
    return undefined;
  }
  walk.nodes.set("", node);
  const { keys } = keysOf(RootKeys, node, ROOT, "", walk);
  const children = readChildren(node, keys, "", 1, within, walk, ROOT);
  return { type: "supervisor", name: walk.tree, config: configOf(keys), depends_on: [], children };
};

const readChildren = (
  node: LocatedMap,
  config: Partial<RootKeys>,
  path: string,
  depth: number,
  within: NodeScope,
  walk: Walk,
  { what, keys }: Subject,
): readonly TreeNodeSpec[] => {
  const { problems } = walk.sources;
  const children = valueAt(node, ["children"]);
  const place = placeOfKey(node, "children", node.place);
  if (config.strategy === "dynamic") {
    if (children !== undefined)
      problems.add(
        place,
        "a dynamic supervisor has no children in the file; agent spawn --supervisor starts them",
        path,
      );
    return [];
  }
  if (children === undefined) {
    if (!isWritten(node, "children", keys))
      problems.add(place, `${what} needs children, or strategy: dynamic`, path);
    return [];
  }
  if (children.type !== "list") {
    problems.add(children.place, `children needs a list, not ${describe(children)}`, path);
    return [];
  }
  if (depth > TREE_DEPTH_MAX) {
    problems.add(place, `supervisors nest deeper than ${TREE_DEPTH_MAX}`, path);
    return [];
  }
  const names = new Map<string, FilePlace>();
  return children.items.flatMap((item) =>
    entriesOf(item, within, walk.sources).flatMap((entry) => {
      walk.count += 1;
      if (walk.count > TREE_NODES_MAX) {
        problems.add(place, `the tree has over ${TREE_NODES_MAX} supervisors and workers`, path);
        return [];
      }
      const child = readNode(entry.node, path, depth, entry.within, walk);
      return child !== undefined && isNew(child.name, path, entry.node, names, walk) ? [child] : [];
    }),
  );
};

const isNew = (
  name: string,
  above: string,
  node: LocatedValue,
  names: Map<string, FilePlace>,
  { sources: { problems }, tree }: Walk,
): boolean => {
  const place = valueAt(node, ["name"])?.place ?? node.place;
  const first = names.get(name);
  if (first !== undefined)
    problems.add(
      place,
      `a sibling in line ${first.line} is called ${name} already; names of siblings differ`,
      above,
    );
  else names.set(name, place);
  // Paths do not begin with the tree's name, so both nodes' children would have the same paths.
  if (above === "" && name === tree && isSupervisor(node))
    problems.add(
      place,
      `${name} is the name of the tree too; give the tree another one with name:, beside version`,
      name,
    );
  return first === undefined;
};

const readNode = (
  node: LocatedValue,
  above: string,
  depth: number,
  within: NodeScope,
  walk: Walk,
): TreeNodeSpec | undefined => {
  const { problems } = walk.sources;
  if (node.type !== "map") {
    problems.add(
      node.place,
      `a child needs keys, as in { name: web, argv: [my-server] }, not ${describe(node)}`,
      above,
    );
    return undefined;
  }
  const written = valueAt(node, ["name"]);
  const name = written?.type === "scalar" && typeof written.value === "string" ? written.value : "";
  const path = above === "" ? name : `${above}/${name}`;
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) {
    problems.add(
      written?.place,
      `the path of this node is over ${PATH_MAX_BYTES} bytes`,
      path.slice(0, NAME_MAX_BYTES),
    );
    return undefined;
  }
  const subject = isSupervisor(node) ? SUPERVISOR : WORKER;
  const whole = walk.hosts.over(path, node, subject);
  if (name !== "" && !walk.nodes.has(path)) walk.nodes.set(path, whole);
  return subject === SUPERVISOR
    ? readSupervisor(whole, name, path, depth, within, walk)
    : readWorker(whole, name, path, walk);
};

/** A node with children is a supervisor. Without that sign, keys that only one of the two has decide. */
const isSupervisor = (node: LocatedValue): boolean => {
  if (node.type !== "map") return false;
  const keys = [...node.entries.keys()];
  if (keys.includes("children") || keys.includes("strategy")) return true;
  if (keys.some((key) => Object.hasOwn(SUPERVISOR.elsewhere!, key))) return false;
  const own = supervisorKeys.filter((key) => !workerKeys.includes(key));
  return keys.some((key) => own.includes(key) || nearest(key, ["children", "strategy"]) !== undefined);
};

const readSupervisor = (
  node: LocatedMap,
  name: string,
  path: string,
  depth: number,
  within: NodeScope,
  walk: Walk,
): SupervisorNode | undefined => {
  const { keys } = keysOf(SupervisorKeys, node, SUPERVISOR, path, walk);
  const children = readChildren(node, keys, path, depth + 1, within, walk, SUPERVISOR);
  if (name === "") return undefined;
  return {
    type: "supervisor",
    name,
    config: configOf(keys),
    depends_on: keys.depends_on ?? [],
    children,
  };
};

const readWorker = (node: LocatedMap, name: string, path: string, walk: Walk): TreeNodeSpec | undefined => {
  const { keys, isWhole } = keysOf(WorkerKeys, node, WORKER, path, walk);
  const spec = workerSpec(keys, node, name === "" ? "this worker" : path, walk.sources);
  if (name === "") return undefined;
  return {
    type: "worker",
    name,
    spec: (isWhole ? spec : undefined) ?? UNFINISHED,
    depends_on: keys.depends_on ?? [],
  };
};

/** Replaces a worker with mistakes, so that the rest of the tree is checked. It is never sent. */
const UNFINISHED = { kind: PROGRAM_KIND, cwd: "/", restart: "temporary" } as TreeNodeSpec extends {
  spec: infer S;
}
  ? S
  : never;

/** A file asks for what a cluster cannot keep (decision 0083). */
export const addPlacementProblems = (root: SupervisorNode, walk: Walk): void => {
  for (const { path, key, message } of placementProblems({ root })) {
    const node = walk.nodes.get(path);
    walk.sources.problems.add(node && placeOfKey(node, key, node.place), message, path);
  }
};

interface Significance {
  readonly path: string;
  readonly restart: RestartPolicy;
}

/** supervisor.erl: a significant child contradicts auto_shutdown never, and a restart policy of permanent. */
export const addSignificanceProblems = (supervisor: SupervisorNode, path: string, walk: Walk): void => {
  for (const child of supervisor.children) {
    const below = path === "" ? child.name : `${path}/${child.name}`;
    const { restart, significant } = child.type === "worker" ? child.spec : child.config;
    if (significant) addContradiction({ path: below, restart }, walk);
    if (child.type === "supervisor") addSignificanceProblems(child, below, walk);
  }
};

const addContradiction = ({ path, restart }: Significance, walk: Walk): void => {
  const node = walk.nodes.get(path);
  if (node === undefined) return;
  const place = placeOfKey(node, "significant", node.place);
  const { problems } = walk.sources;
  const above = walk.nodes.get(path.split("/").slice(0, -1).join("/"));
  const written = above && valueAt(above, ["auto_shutdown"]);
  const isNever = written === undefined || (written.type === "scalar" && written.value === "never");
  if (isNever)
    problems.add(
      place,
      `significant means nothing while the supervisor of ${path} has no auto_shutdown: any or all`,
      path,
    );
  if (restart === "permanent")
    problems.add(
      place,
      `${path} is significant, so it may end: its restart is transient or temporary, not permanent`,
      path,
    );
};
