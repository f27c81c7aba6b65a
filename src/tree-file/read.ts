/**
 * A holdfast.yaml to the tree that `agent up` asks for (cli.md; docs/tree.md). Pure but for the files that it is handed; it
 * answers with every mistake of the file and its includes, each with its line and column, or with the tree.
 */
import { basename, dirname } from "node:path";
import { NAME_MAX_BYTES } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { type AddedKinds, NO_KINDS_ADDED } from "../commands/kinds.ts";
import { NodeName, type SupervisorNode, type TreeSpec } from "../protocol/tree.ts";
import { readHosts } from "./hosts.ts";
import { check, type Subject } from "./issues.ts";
import { describe, type Located, type LocatedMap, type Place, plain, valueAt } from "./located.ts";
import { addSignificanceProblems, readRoot, type Walk } from "./nodes.ts";
import { inStartOrder } from "./order.ts";
import { type Mistakes, makeProblems, mistakesOf, type Problems } from "./problems.ts";
import { TopKeys } from "./schema.ts";
import { openFile, type ReadFile, type Sources } from "./sources.ts";
import { type Scope, substituteAll, withVariables } from "./variables.ts";

export interface TreeFileInput {
  /** Absolute: it becomes the owner of the tree. */
  readonly file: string;
  readonly readFile: ReadFile;
  /** `--var`: wins over what the file says. */
  readonly given?: ReadonlyMap<string, string>;
  /** For `${env:NAME}`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Kinds that the configuration of the daemon adds. Default: none. */
  readonly kinds?: AddedKinds;
  /** For `hosts`. */
  readonly host?: string;
  /** The path that a person reads for an absolute path; relative to where they are. */
  readonly display?: (file: string) => string;
}

export interface TreeFile {
  readonly tree: TreeSpec;
  /** The place of each node, by path; the top has the empty path. */
  readonly places: ReadonlyMap<string, Place>;
  /** Absolute; the file itself first, then what it includes. */
  readonly files: readonly string[];
}

type TreeFileReading = ({ readonly ok: true } & TreeFile) | ({ readonly ok: false } & Mistakes);

/** The name of a file's tree alone: `agent down` needs no more of it, and works where the rest has mistakes. */
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
  const { root, nodes } = read;
  return {
    ok: true,
    tree: { name: root.name, file, root },
    places: new Map([...nodes].map(([path, { place }]) => [path, place])),
    files: sources.files,
  };
};

const readTop = (
  top: Located,
  { file, given = new Map(), env = {}, host = "" }: TreeFileInput,
  sources: Sources,
): { readonly root: SupervisorNode; readonly nodes: Walk["nodes"] } | undefined => {
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
  const root = tree && readRoot(substituteAll(tree, scope), { scope, chain: [file] }, walk);
  addUnusedVariables(given, declared, scope.seen.names, problems);
  if (root === undefined) return undefined;
  hosts.addUnknown([...walk.nodes.keys()].filter((path) => path !== ""));
  addSignificanceProblems(root, "", walk);
  const placeOf = (path: string, index: number): Place | undefined => {
    const written = walk.nodes.get(path);
    const list = written && valueAt(written, ["depends_on"]);
    return (list?.type === "list" ? list.items[index] : list)?.place;
  };
  return { root: inStartOrder(root, placeOf, problems), nodes: walk.nodes };
};

/** Nodes are read apart, one by one. */
const topKeys = (top: LocatedMap): Record<string, unknown> =>
  Object.fromEntries(
    [...top.entries].map(([key, { value }]) => [
      key,
      key === "tree" ? {} : plain(value, key === "variables" || key === "name"),
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

/** Given, or the directory's, made a name; a tree needs one, so that `agent down NAME` can say which. */
const nameOf = (top: LocatedMap, file: string): string => {
  const written = valueAt(top, ["name"]);
  if (written?.type === "scalar" && NodeName.safeParse(written.source).success) return written.source;
  const made = basename(dirname(file))
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, NAME_MAX_BYTES);
  return made === "" ? "tree" : made;
};
