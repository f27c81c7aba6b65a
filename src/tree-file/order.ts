/**
 * The start order of a tree: children as written, moved only if `depends_on` requires it (docs/reference/tree-file.md,
 * Order). A supervisor starts completely before its next sibling, so a dependency between two subtrees orders the siblings
 * above them.
 */
import { TREE_PROBLEMS_MAX } from "../base/limits.ts";
import { nearest } from "../base/suggest.ts";
import type { SupervisorNode, TreeNodeSpec } from "../protocol/tree.ts";
import type { FilePlace } from "./located.ts";
import type { Problems } from "./problems.ts";

/** The most members of a circle that are named. */
const STEPS_TOLD_MAX = 12;

/** One child waits for another because of a dependency of a node below it. */
interface Wait {
  readonly on: string;
  readonly path: string;
  readonly dependency: string;
  readonly place: FilePlace | undefined;
}
/** By the path of the supervisor (empty for the top), then by the child that waits. */
type Waits = Map<string, Map<string, Wait[]>>;

export type PlaceOfDependency = (path: string, index: number) => FilePlace | undefined;

const join = (path: string, name: string): string => (path === "" ? name : `${path}/${name}`);

/** Every node below a supervisor with its path, in file order. */
const pathsOf = (
  { children }: SupervisorNode,
  above = "",
): readonly { readonly path: string; readonly node: TreeNodeSpec }[] =>
  children.flatMap((node) => {
    const path = join(above, node.name);
    return [{ path, node }, ...(node.type === "supervisor" ? pathsOf(node, path) : [])];
  });

export const inStartOrder = (
  root: SupervisorNode,
  placeOf: PlaceOfDependency,
  problems: Problems,
): SupervisorNode => sorted(root, "", waitsOf(root, placeOf, problems), problems);

const waitsOf = (root: SupervisorNode, placeOf: PlaceOfDependency, problems: Problems): Waits => {
  const nodes = pathsOf(root);
  const paths = nodes.map(({ path }) => path);
  const known = new Set(paths);
  const waits: Waits = new Map();
  for (const { path, node } of nodes)
    node.depends_on.forEach((dependency, index) => {
      const place = placeOf(path, index);
      const problem = known.has(dependency)
        ? lineageProblem(path, dependency)
        : `the tree has no ${dependency}${problems.found.length < TREE_PROBLEMS_MAX ? meant(dependency, paths) : ""}`;
      if (problem !== undefined) {
        problems.add(place, `depends_on: ${problem}`, path);
        return;
      }
      const [own, theirs] = [path.split("/"), dependency.split("/")];
      const fork = own.findIndex((name, at) => name !== theirs[at]);
      const supervisor = own.slice(0, fork).join("/");
      const siblings = waits.get(supervisor) ?? new Map<string, Wait[]>();
      waits.set(supervisor, siblings);
      siblings.set(own[fork]!, [
        ...(siblings.get(own[fork]!) ?? []),
        { on: theirs[fork]!, path, dependency, place },
      ]);
    });
  return waits;
};

const lineageProblem = (path: string, dependency: string): string | undefined => {
  if (path === dependency) return `${path} waits for itself`;
  if (path.startsWith(`${dependency}/`))
    return `${dependency} stands above ${path}, and is ready only after it; name one of its other children`;
  if (dependency.startsWith(`${path}/`))
    return `${dependency} stands below ${path}, which is ready only after it anyway`;
  return undefined;
};

const last = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The full path that a name means, or the path nearest to it or to its last part. */
const meant = (typed: string, paths: readonly string[]): string => {
  const near =
    paths.find((path) => last(path) === typed) ?? nearest(typed, paths) ?? byEnd(last(typed), paths);
  return near === undefined ? "" : `; did you mean ${near}?`;
};

const byEnd = (name: string, paths: readonly string[]): string | undefined => {
  const end = nearest(name, paths.map(last));
  return paths.find((path) => last(path) === end);
};

const sorted = (
  supervisor: SupervisorNode,
  path: string,
  waits: Waits,
  problems: Problems,
): SupervisorNode => {
  const own = waits.get(path) ?? new Map<string, Wait[]>();
  const left = new Map(supervisor.children.map((child) => [child.name, child]));
  const ordered: TreeNodeSpec[] = [];
  while (left.size > 0) {
    // The first child in the file that waits for no other: children without dependencies keep their places.
    const next = [...left.values()].find(({ name }) => !(own.get(name) ?? []).some(({ on }) => left.has(on)));
    if (next === undefined) {
      for (const member of addCircle(left, own, problems)) left.delete(member);
      continue;
    }
    left.delete(next.name);
    ordered.push(next.type === "supervisor" ? sorted(next, join(path, next.name), waits, problems) : next);
  }
  return { ...supervisor, children: ordered };
};

/** Reports one circle among children that all wait, by its members. */
const addCircle = (
  left: ReadonlyMap<string, TreeNodeSpec>,
  waits: ReadonlyMap<string, readonly Wait[]>,
  problems: Problems,
): readonly string[] => {
  const walk: { readonly name: string; readonly wait: Wait }[] = [];
  let name = left.keys().next().value!;
  while (!walk.some((step) => step.name === name)) {
    const wait = waits.get(name)!.find(({ on }) => left.has(on))!;
    walk.push({ name, wait });
    name = wait.on;
  }
  const circle = walk.slice(walk.findIndex((step) => step.name === name));
  const told = circle.slice(0, STEPS_TOLD_MAX).map(({ wait }) => `${wait.path} waits for ${wait.dependency}`);
  if (circle.length > told.length) told.push(`and ${circle.length - told.length} more`);
  const steps = told.join(", ");
  const isApart = circle.some(
    ({ name: member, wait }) => !isEnd(wait.path, member) || !isEnd(wait.dependency, wait.on),
  );
  const whole = isApart
    ? `; ${circle.map((step) => step.name).join(" and ")} start whole, one after the other`
    : "";
  problems.add(circle[0]!.wait.place, `depends_on goes in a circle: ${steps}${whole}`, circle[0]!.wait.path);
  return circle.map((step) => step.name);
};

const isEnd = (path: string, name: string): boolean => path === name || path.endsWith(`/${name}`);
