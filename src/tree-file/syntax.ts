/** YAML text to located values. Aliases and merge keys (`<<`) are written out within bounds; YAML 1.2, so JSON too. */
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from "yaml";
import { TREE_NESTING_MAX, TREE_VALUES_MAX } from "../base/limits.ts";
import type { Located, LocatedMap, LocatedScalar, Place } from "./located.ts";
import type { Problems } from "./problems.ts";

/** Thrown once a bound is passed, so that a hostile file costs no more than what was read of it. */
class TooMuch extends Error {
  readonly place: Place;
  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

/** The parser's words are for those who know YAML; these say what to do. */
const SYNTAX_WORDS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this key stands here twice; keep one of them",
  TAB_AS_INDENT: "tabs cannot indent in YAML; use spaces",
  MULTIPLE_DOCS: "a second document begins here; a file holds one tree, so remove the ---",
  BAD_ALIAS: "this alias names no anchor that stands before it",
};

const NESTED = `values nest deeper than ${TREE_NESTING_MAX}`;

const wordsOf = ({ code, message, pos: [at] }: YAMLError, text: string): string => {
  if (SYNTAX_WORDS[code] !== undefined) return SYNTAX_WORDS[code];
  if (/call stack/.test(message)) return NESTED;
  const [, missing] = /must (?:be .* and )?end with an? (\S)/.exec(message) ?? [];
  if (missing !== undefined)
    return `a ${missing} is missing before this; what stands inside of it is indented`;
  const line = message.split("\n")[0]!.replace(/[.:]$/, "");
  // `[${NAME}]`: the brace opens a map there.
  const isVariable = text.slice(Math.max(0, at - 2), at + 2).includes("${");
  return `this is no valid YAML: ${line[0]?.toLowerCase() ?? ""}${line.slice(1)}${isVariable ? "; put a text with ${…} in quotes here" : ""}`;
};

/** The file's value; undefined where it is empty, or so broken that looking further would make up mistakes. */
export const readSyntax = (text: string, file: string, problems: Problems): Located | undefined => {
  const lines = new LineCounter();
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    // Other warnings are about taste: where a closing brace stands.
    const unknownTags = document.warnings.filter(({ code }) => code === "TAG_RESOLVE_FAILED");
    addSyntaxErrors([...document.errors, ...unknownTags], text, placeOf, problems);
    // Behind a key that stands twice the rest is as it was meant; behind anything else nobody knows.
    if (document.errors.some(({ code }) => code !== "DUPLICATE_KEY")) return undefined;
    return document.contents === null ? undefined : makeConverter(placeOf, problems)(document.contents, 0);
  } catch (cause) {
    if (cause instanceof TooMuch) problems.add(cause.place, cause.message);
    else if (cause instanceof RangeError) problems.add(placeOf(0), NESTED);
    else throw cause;
    return undefined;
  }
};

/** The first of a line, and no closing brace without an opening one behind another error: those only follow from it. */
const addSyntaxErrors = (
  errors: readonly YAMLError[],
  text: string,
  placeOf: (offset: number) => Place,
  problems: Problems,
): void => {
  const lines = new Set<number>();
  for (const error of errors) {
    const place = placeOf(error.pos[0]);
    if (error.code === "UNEXPECTED_TOKEN" && lines.size > 0) continue;
    if (!lines.has(place.line)) problems.add(place, wordsOf(error, text));
    lines.add(place.line);
  }
};

const sizeOf = new WeakMap<Located, number>();

const makeConverter = (placeOf: (offset: number) => Place, problems: Problems) => {
  const anchors = new Map<string, Located | "open">();
  let count = 0;
  const spend = (place: Place, values: number): void => {
    count += values;
    if (count > TREE_VALUES_MAX)
      throw new TooMuch(
        place,
        `the file has over ${TREE_VALUES_MAX} values once its aliases are written out`,
      );
  };

  const convert = (node: Node, depth: number): Located => {
    const place = placeOf(node.range?.[0] ?? 0);
    if (depth > TREE_NESTING_MAX) throw new TooMuch(place, NESTED);
    if (isAlias(node)) return aliasOf(node.source, place);
    const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined;
    if (anchor !== undefined) anchors.set(anchor, "open");
    const before = count;
    spend(place, 1);
    const located = isMap(node)
      ? mapOf(node, place, depth)
      : isSeq(node)
        ? {
            type: "list" as const,
            place,
            items: node.items.map((item) => (isNode(item) ? convert(item, depth + 1) : nothing(place))),
          }
        : scalarOf(node, place);
    sizeOf.set(located, count - before);
    if (anchor !== undefined) anchors.set(anchor, located);
    return located;
  };

  const aliasOf = (name: string, place: Place): Located => {
    const target = anchors.get(name);
    if (target === "open") problems.add(place, `*${name} stands inside of what it names`);
    if (target === undefined) problems.add(place, SYNTAX_WORDS.BAD_ALIAS!);
    if (target === undefined || target === "open") return nothing(place);
    spend(place, sizeOf.get(target) ?? 1);
    return target;
  };

  const mapOf = (map: YAMLMap, place: Place, depth: number): LocatedMap => {
    const entries: [string, { key: Place; value: Located }][] = [];
    const merged: [string, { key: Place; value: Located }][] = [];
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const keyPlace = placeOf(key.range?.[0] ?? 0);
      const name = isScalar(key) ? (typeof key.value === "string" ? key.value : (key.source ?? "")) : "";
      if (!isScalar(key) || name === "__proto__") {
        problems.add(keyPlace, "a key is a plain word");
        continue;
      }
      const located = value === null ? nothing(keyPlace) : convert(value, depth + 1);
      if (name !== "<<") entries.push([name, { key: keyPlace, value: located }]);
      else merged.push(...mergedEntries(located, keyPlace));
    }
    return { type: "map", place, entries: new Map([...merged, ...entries]) };
  };

  /** The YAML 1.1 merge key, which people know from docker compose: own keys win, then the first of a list. */
  const mergedEntries = (from: Located, place: Place): [string, { key: Place; value: Located }][] => {
    const maps = from.type === "list" ? from.items : [from];
    if (!maps.every((map) => map.type === "map")) {
      problems.add(place, "<< needs a map, as in <<: *defaults");
      return [];
    }
    return maps.toReversed().flatMap((map) => [...map.entries]);
  };

  return convert;
};

const nothing = (place: Place): LocatedScalar => ({ type: "scalar", place, value: null, source: "" });

const scalarOf = (node: Node, place: Place): LocatedScalar => {
  const value: unknown = isScalar(node) ? node.value : null;
  if (typeof value === "string") return { type: "scalar", place, value, source: value };
  if (typeof value !== "number" && typeof value !== "boolean") return nothing(place);
  const source = isScalar(node) ? (node.source ?? String(value)) : "";
  return { type: "scalar", place, value, source };
};
