/** Settings for some hosts: other variables and other keys of nodes, by patterns of host names. */
import { didYouMean } from "../base/suggest.ts";
import { type LocatedMap, type LocatedValue, mergePatch, valueAt } from "./located.ts";
import type { Problems } from "./problems.ts";
import { SupervisorPatch, TEXT_KEYS, WorkerPatch } from "./schema.ts";
import { type Scope, substituteAll } from "./variables.ts";
import { check, plainKeys, type Subject } from "./zod-problems.ts";

/** Matches a pattern such as `build-*` or `web?`; host names ignore case. */
export const matchesHost = (pattern: string, host: string): boolean => {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  // Several stars in a row match the same as one, but cost time.
  const source = escaped.replace(/\*+/g, ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`, "is").test(host);
};

interface Patch {
  readonly patch: LocatedMap;
  readonly isHere: boolean;
}

export interface Hosts {
  /** The variables of the matching hosts, in their order in the file. */
  readonly variables: readonly (LocatedMap | undefined)[];
  /** A node with the keys of the matching hosts. Patches of other hosts are checked too. */
  over(path: string, node: LocatedMap, subject: Subject): LocatedMap;
  /** Reports patches for nodes that do not exist. Call it after every node was visited. */
  addUnknown(paths: readonly string[]): void;
}

const entriesOf = (node: LocatedValue | undefined): LocatedMap["entries"] =>
  node?.type === "map" ? node.entries : new Map();

export const readHosts = (
  hosts: LocatedValue | undefined,
  declared: LocatedValue | undefined,
  host: string,
  problems: Problems,
): ((scope: Scope) => Hosts) & { readonly variables: Hosts["variables"] } => {
  const all = [...entriesOf(hosts)].map(([pattern, { value }]) => ({
    isHere: matchesHost(pattern, host),
    variables: valueAt(value, ["variables"]),
    nodes: valueAt(value, ["nodes"]),
  }));
  const names = [...entriesOf(declared).keys()];
  for (const { variables } of all)
    for (const [name, { key }] of entriesOf(variables))
      if (!names.includes(name))
        problems.add(
          key,
          `a host changes variables of the file, and there is no ${name}${didYouMean(name, names) || "; add it to variables"}`,
        );
  const variables = all.flatMap(({ isHere, variables: own }) => (isHere && own?.type === "map" ? [own] : []));
  const bind = (scope: Scope): Hosts => {
    const patches = all.flatMap(({ isHere, nodes }) =>
      [...entriesOf(nodes)].map(([path, { key, value }]) => ({
        path,
        key,
        isHere,
        patch: substituteAll(value, scope),
      })),
    );
    return {
      variables,
      over: (path, node, subject) =>
        patches
          .filter((each): each is typeof each & Patch => each.path === path && each.patch.type === "map")
          .reduce((under, { patch, isHere }) => {
            const isRight = checkPatch(path, patch, subject, problems);
            return isHere && isRight ? (mergePatch(under, patch) as LocatedMap) : under;
          }, node),
      addUnknown: (paths) => {
        for (const { path, key, patch } of patches) {
          if (patch.type !== "map")
            problems.add(patch.place, "a host changes keys of a node, as in { grace: 5s }");
          if (!paths.includes(path)) problems.add(key, `the tree has no ${path}${didYouMean(path, paths)}`);
        }
      },
    };
  };
  return Object.assign(bind, { variables });
};

const isNull = (node: LocatedValue): boolean => node.type === "scalar" && node.value === null;

/** `null` removes a key; the schema does not know `null`, so such keys are taken out. */
const withoutNulls = (node: LocatedValue, keep: (key: string) => boolean = () => false): LocatedValue =>
  node.type !== "map"
    ? node
    : {
        ...node,
        entries: new Map(
          [...node.entries].flatMap(([key, { key: place, value }]) =>
            isNull(value) && !keep(key) ? [] : [[key, { key: place, value: withoutNulls(value) }] as const],
          ),
        ),
      };

const checkPatch = (path: string, patch: LocatedMap, subject: Subject, problems: Problems): boolean => {
  const schema = subject.keys.includes("kind") ? WorkerPatch : SupervisorPatch;
  const keys = Object.keys(schema.shape);
  const elsewhere = { name: "a host changes no names", children: "a host changes no children" };
  return (
    check(
      schema,
      patch,
      plainKeys(
        withoutNulls(patch, (key) => !keys.includes(key)),
        TEXT_KEYS,
      ),
      { ...subject, keys, elsewhere },
      problems,
      path,
    ) !== undefined
  );
};
