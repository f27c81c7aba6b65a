/** The files from which a tree is read: the first one and its includes, each bounded. */
import { dirname, resolve } from "node:path";
import type { Reading } from "../base/durations.ts";
import { TREE_FILE_MAX_BYTES, TREE_INCLUDE_DEPTH_MAX, TREE_INCLUDES_MAX } from "../base/limits.ts";
import type { AddedKinds } from "../commands/kinds.ts";
import {
  type FilePlace,
  type LocatedMap,
  type LocatedValue,
  mergePatch,
  valueAt,
  withoutKeys,
} from "./located.ts";
import type { Problems } from "./problems.ts";
import { IncludeKeys } from "./schema.ts";
import { readSyntax } from "./syntax.ts";
import { type Scope, substituteAll, withVariables } from "./variables.ts";
import { check, plainKeys } from "./zod-problems.ts";

/** The text of a file of at most `maxBytes`, or the reason as the rest of a sentence: `does not exist`. */
export type ReadFile = (path: string, maxBytes: number) => Reading<string>;

export interface Sources {
  readonly readFile: ReadFile;
  readonly problems: Problems;
  /** Kinds that are not built in. */
  readonly kinds: AddedKinds;
  /** Absolute, in the order of reading. */
  readonly files: string[];
  includes: number;
}

/** The context of a node: the variables of its file, and the chain of includes that led there. */
export interface NodeScope {
  readonly scope: Scope;
  readonly chain: readonly string[];
}

export interface Entry {
  readonly node: LocatedValue;
  readonly within: NodeScope;
}

/** `asked`: the place of the `include`, and its value. */
export const openFile = (
  file: string,
  sources: Sources,
  asked?: { readonly place: FilePlace; readonly text: string },
): LocatedValue | undefined => {
  const read = sources.readFile(file, TREE_FILE_MAX_BYTES);
  if (!sources.files.includes(file)) sources.files.push(file);
  if (!read.ok) {
    sources.problems.add(
      asked?.place,
      `${asked === undefined ? file : `include ${asked.text}`} ${read.problem}`,
    );
    return undefined;
  }
  const before = sources.problems.found.length;
  const value = readSyntax(read.value, file, sources.problems);
  if (value === undefined && sources.problems.found.length === before)
    sources.problems.add({ file, line: 1, column: 1 }, "the file is empty");
  return value;
};

/** The child itself, or the nodes of the file that it includes. */
export const entriesOf = (child: LocatedValue, within: NodeScope, sources: Sources): readonly Entry[] => {
  const include = valueAt(child, ["include"]);
  if (include === undefined || child.type !== "map") return [{ node: child, within }];
  const keys = check(
    IncludeKeys,
    child,
    plainKeys(child, ["variables"]),
    { what: "an include", keys: ["include", "variables"] },
    sources.problems,
  );
  if (keys === undefined) return [];
  const file = resolve(dirname(include.place.file), keys.include);
  if (!mayInclude(file, include.place, within, sources)) return [];
  const value = openFile(file, sources, { place: include.place, text: keys.include });
  if (value === undefined) return [];
  const inner: NodeScope = {
    scope: withVariables(within.scope, [valueAt(child, ["variables"]) as LocatedMap | undefined]),
    chain: [...within.chain, file],
  };
  return nodesOf(
    substituteAll(value, inner.scope),
    withoutKeys(child, ["include", "variables"]),
    sources,
  ).flatMap((node) => entriesOf(node, inner, sources));
};

const mayInclude = (file: string, place: FilePlace, { chain }: NodeScope, sources: Sources): boolean => {
  const { problems } = sources;
  if (chain.includes(file)) problems.add(place, `include goes in a circle: ${[...chain, file].join(" → ")}`);
  else if (chain.length > TREE_INCLUDE_DEPTH_MAX)
    problems.add(place, `includes nest deeper than ${TREE_INCLUDE_DEPTH_MAX}`);
  else if (sources.includes >= TREE_INCLUDES_MAX)
    problems.add(place, `there are over ${TREE_INCLUDES_MAX} includes`);
  else {
    sources.includes += 1;
    return true;
  }
  return false;
};

/** Applies a key beside `include` to the included node. */
const nodesOf = (value: LocatedValue, over: LocatedMap, { problems }: Sources): readonly LocatedValue[] => {
  const [[key, entry] = []] = over.entries;
  if (value.type === "map") {
    if (!over.entries.has("children")) return [mergePatch(value, over)];
    problems.add(over.entries.get("children")!.key, "the children of an include stand in its file");
    return [];
  }
  if (value.type === "scalar")
    problems.add(value.place, "an included file holds one node, or a list of nodes");
  if (value.type !== "list") return [];
  if (entry !== undefined)
    problems.add(entry.key, `${key} goes over one node, and the file that is included holds a list`);
  return value.items;
};
