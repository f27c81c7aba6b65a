/**
 * Reads a holdfast.yaml into the tree that `agent up` requests (docs/reference/tree-file.md). Pure except for
 * `readFile`. It returns the tree, or every mistake of the file and its includes, each with line and column.
 */
import { basename, dirname } from "node:path";
import { NAME_MAX_BYTES } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { type AddedKinds, NO_KINDS_ADDED } from "../commands/kinds.ts";
import { NodeName, SupervisorConfig, type SupervisorNode, type TreeSpec } from "../protocol/tree.ts";
import { readHosts } from "./hosts.ts";
import { describe, type FilePlace, type LocatedMap, type LocatedValue, plain, valueAt } from "./located.ts";
import { addPlacementProblems, addSignificanceProblems, readRoot, type Walk } from "./nodes.ts";
import { inStartOrder } from "./order.ts";
import { type Mistakes, makeProblems, mistakesOf, type Problems } from "./problems.ts";
import { type FileSchedule, readSchedules } from "./schedules.ts";
import { TopKeys } from "./schema.ts";
import { openFile, type ReadFile, type Sources } from "./sources.ts";
import { type Scope, substituteAll, withVariables } from "./variables.ts";
import { check, isWritten, type Subject } from "./zod-problems.ts";

export interface TreeFileInput {
  /** Absolute: this file owns the tree. */
  readonly file: string;
  readonly readFile: ReadFile;
  /** `--var`: overrides the file's variables. */
  readonly given?: ReadonlyMap<string, string>;
  /** For `${env:NAME}`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Kinds that the configuration of the daemon adds. Default: none. */
  readonly kinds?: AddedKinds;
  /** For `hosts`. */
  readonly host?: string;
  /** Turns an absolute path into one for people, relative to their directory. */
  readonly display?: (file: string) => string;
}

export interface TreeFile {
  readonly tree: TreeSpec;
  /** The place of each node by its path; the top has the empty path. */
  readonly places: ReadonlyMap<string, FilePlace>;
  /** Absolute: the file itself, then its includes. */
  readonly files: readonly string[];
}

type TreeFileReading = ({ readonly ok: true } & TreeFile) | ({ readonly ok: false } & Mistakes);

/** Reads only the name of a file's tree. `agent down` needs no more, so it works even if the rest has mistakes. */
export const readTreeName = ({
  file,
  readFile,
  display = (path) => path,
}: Pick<TreeFileInput, "file" | "readFile" | "display">):
  | { readonly ok: true; readonly name: string }
  | ({ readonly ok: false } & Mistakes) => {
  const problems = makeProblems();
  const sources: Sources = { readFile, problems, kinds: NO_KINDS_ADDED, files: [], includes: 0 };
  const top = openFile(file, sources);
  if (top?.type === "map") return { ok: true, name: nameOf(top, file) };
  if (top !== undefined) problems.add(top.place, "a file has a name:, or a directory that names its tree");
  return { ok: false, ...mistakesOf(problems.found, sources.files, display) };
};

const FILE: Subject = {
  what: "the file",
  keys: Object.keys(TopKeys.shape),
  elsewhere: Object.fromEntries(
    ["children", "strategy", "intensity"].map((key) => [key, "that stands below tree:"]),
  ),
};

export const readTreeFile = (input: TreeFileInput): TreeFileReading => {
  const { file, readFile, kinds = NO_KINDS_ADDED, display = (path) => path } = input;
  const problems = makeProblems();
  const sources: Sources = { readFile, problems, kinds, files: [], includes: 0 };
  const top = openFile(file, sources);
  const read = top && readTop(top, input, sources);
  if (problems.found.length > 0 || read === undefined)
    return { ok: false, ...mistakesOf(problems.found, sources.files, display) };
  const { root, nodes, schedules } = read;
  return {
    ok: true,
    // An older daemon knows no schedules.
    tree: {
      name: root.name,
      file,
      root,
      ...(schedules.length === 0 ? {} : { schedules: schedules.map(({ spec }) => spec) }),
    },
    places: new Map([...schedules.map(({ path, place }) => [path, place] as const), ...placesOf(nodes)]),
    files: sources.files,
  };
};

const placesOf = (nodes: Walk["nodes"]): readonly (readonly [string, FilePlace])[] =>
  [...nodes].map(([path, { place }]) => [path, place]);

interface ReadTop {
  readonly root: SupervisorNode;
  readonly nodes: Walk["nodes"];
  readonly schedules: readonly FileSchedule[];
}

const readTop = (
  top: LocatedValue,
  { file, given = new Map(), env = {}, host = "" }: TreeFileInput,
  sources: Sources,
): ReadTop | undefined => {
  const { problems } = sources;
  if (top.type !== "map") {
    problems.add(top.place, `a file begins with version: 1 and has a tree, and this is ${describe(top)}`);
    return undefined;
  }
  check(TopKeys, top, topKeys(top), FILE, problems);
  const variables = valueAt(top, ["variables"]);
  const declared = variables?.type === "map" ? variables : undefined;
  const hostsOf = readHosts(valueAt(top, ["hosts"]), declared, host, problems);
  const bare: Scope = { values: new Map(), env, problems, seen: { names: new Set(), chars: 0 } };
  const scope = withVariables(bare, [declared, ...hostsOf.variables], given);
  const hosts = hostsOf(scope);
  const walk: Walk = { sources, hosts, tree: nameOf(top, file), nodes: new Map(), count: 0 };
  const tree = valueAt(top, ["tree"]);
  const times = valueAt(top, ["schedules"]);
  const schedules = times === undefined ? [] : readSchedules(substituteAll(times, scope), sources);
  if (tree === undefined && times === undefined && !isWritten(top, "tree", FILE.keys))
    problems.add(top.place, "the file needs the key tree");
  const root =
    tree === undefined
      ? emptyRoot(walk.tree)
      : readRoot(substituteAll(tree, scope), { scope, chain: [file] }, walk);
  addUnusedVariables(given, declared, scope.seen.names, problems);
  if (root === undefined) return undefined;
  hosts.addUnknown([...walk.nodes.keys()].filter((path) => path !== ""));
  addSignificanceProblems(root, "", walk);
  addPlacementProblems(root, walk);
  const placeOf = (path: string, index: number): FilePlace | undefined => {
    const written = walk.nodes.get(path);
    const list = written && valueAt(written, ["depends_on"]);
    return (list?.type === "list" ? list.items[index] : list)?.place;
  };
  return { root: inStartOrder(root, placeOf, problems), nodes: walk.nodes, schedules };
};

/** A file that has nothing but schedules. */
const emptyRoot = (name: string): SupervisorNode => ({
  type: "supervisor",
  name,
  config: SupervisorConfig.parse({ strategy: "dynamic" }),
  depends_on: [],
  children: [],
});

/** The keys of the top; nodes are read separately, one by one. */
const topKeys = (top: LocatedMap): Record<string, unknown> =>
  Object.fromEntries(
    [...top.entries].map(([key, { value }]) => [
      key,
      key === "tree" ? {} : key === "schedules" ? [] : plain(value, key === "variables" || key === "name"),
    ]),
  );

const addUnusedVariables = (
  given: ReadonlyMap<string, string>,
  declared: LocatedMap | undefined,
  used: ReadonlySet<string>,
  problems: Problems,
): void => {
  const names = [...new Set([...(declared?.entries.keys() ?? []), ...used])];
  for (const name of given.keys())
    if (!names.includes(name))
      problems.add(undefined, `--var ${name} is no variable of the file${didYouMean(name, names)}`);
};

/** The given name, or one made from the directory's name; a tree needs a name for `agent down NAME`. */
const nameOf = (top: LocatedMap, file: string): string => {
  const written = valueAt(top, ["name"]);
  if (written?.type === "scalar" && NodeName.safeParse(written.source).success) return written.source;
  const made = basename(dirname(file))
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, NAME_MAX_BYTES);
  return made === "" ? "tree" : made;
};
