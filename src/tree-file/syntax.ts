/** Turns YAML text into located values. Aliases and merge keys (`<<`) are expanded within bounds. It is YAML 1.2, so JSON works too. */
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
import type { FilePlace, LocatedMap, LocatedScalar, LocatedValue } from "./located.ts";
import type { Problems } from "./problems.ts";

/** Thrown when a bound is passed, so that a hostile file costs only the work up to there. */
class TooMuch extends Error {
  readonly place: FilePlace;
  constructor(place: FilePlace, message: string) {
    super(message);
    this.place = place;
  }
}

/** The parser's messages are for YAML experts; these say what to do. */
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
  // In `[${NAME}]`, YAML reads the brace as a map.
  const isVariable = text.slice(Math.max(0, at - 2), at + 2).includes("${");
  return `this is no valid YAML: ${line[0]?.toLowerCase() ?? ""}${line.slice(1)}${isVariable ? "; put a text with ${…} in quotes here" : ""}`;
};

/** The file's value. Undefined if the file is empty, or so broken that further checks would report false mistakes. */
export const readSyntax = (text: string, file: string, problems: Problems): LocatedValue | undefined => {
  const lines = new LineCounter();
  const placeOf = (offset: number): FilePlace => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    // Other warnings concern style, such as the place of a closing brace.
    const unknownTags = document.warnings.filter(({ code }) => code === "TAG_RESOLVE_FAILED");
    addSyntaxErrors([...document.errors, ...unknownTags], text, placeOf, problems);
    // After a duplicate key the rest is reliable; after any other error it is not.
    if (document.errors.some(({ code }) => code !== "DUPLICATE_KEY")) return undefined;
    return document.contents === null
      ? undefined
      : new Converter(placeOf, problems).convert(document.contents, 0);
  } catch (cause) {
    if (cause instanceof TooMuch) problems.add(cause.place, cause.message);
    else if (cause instanceof RangeError) problems.add(placeOf(0), NESTED);
    else throw cause;
    return undefined;
  }
};

/** Reports only the first error of a line, and not a closing brace without an opening one after another error: such errors are consequences. */
const addSyntaxErrors = (
  errors: readonly YAMLError[],
  text: string,
  placeOf: (offset: number) => FilePlace,
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

/** Converts the values of one document and expands its aliases. */
class Converter {
  private readonly placeOf: (offset: number) => FilePlace;
  private readonly problems: Problems;
  private readonly anchors = new Map<string, LocatedValue | "open">();
  private readonly sizes = new Map<LocatedValue, number>();
  private count = 0;

  constructor(placeOf: (offset: number) => FilePlace, problems: Problems) {
    this.placeOf = placeOf;
    this.problems = problems;
  }

  convert(node: Node, depth: number): LocatedValue {
    const place = this.placeOf(node.range?.[0] ?? 0);
    if (depth > TREE_NESTING_MAX) throw new TooMuch(place, NESTED);
    if (isAlias(node)) return this.aliasOf(node.source, place);
    const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.anchors.set(anchor, "open");
    const before = this.count;
    this.spend(place, 1);
    const located = isMap(node)
      ? this.mapOf(node, place, depth)
      : isSeq(node)
        ? {
            type: "list" as const,
            place,
            items: node.items.map((item) => (isNode(item) ? this.convert(item, depth + 1) : nothing(place))),
          }
        : scalarOf(node, place);
    if (anchor !== undefined) {
      this.anchors.set(anchor, located);
      this.sizes.set(located, this.count - before);
    }
    return located;
  }

  private spend(place: FilePlace, values: number): void {
    this.count += values;
    if (this.count > TREE_VALUES_MAX)
      throw new TooMuch(
        place,
        `the file has over ${TREE_VALUES_MAX} values once its aliases are written out`,
      );
  }

  private aliasOf(name: string, place: FilePlace): LocatedValue {
    const target = this.anchors.get(name);
    if (target === "open") this.problems.add(place, `*${name} stands inside of what it names`);
    if (target === undefined) this.problems.add(place, SYNTAX_WORDS.BAD_ALIAS!);
    if (target === undefined || target === "open") return nothing(place);
    this.spend(place, this.sizes.get(target) ?? 1);
    return target;
  }

  private mapOf(map: YAMLMap, place: FilePlace, depth: number): LocatedMap {
    const entries: [string, { key: FilePlace; value: LocatedValue }][] = [];
    const merged: [string, { key: FilePlace; value: LocatedValue }][] = [];
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const keyPlace = this.placeOf(key.range?.[0] ?? 0);
      const name = isScalar(key) ? (typeof key.value === "string" ? key.value : (key.source ?? "")) : "";
      if (!isScalar(key) || name === "__proto__") {
        this.problems.add(keyPlace, "a key is a plain word");
        continue;
      }
      const located = value === null ? nothing(keyPlace) : this.convert(value, depth + 1);
      if (name !== "<<") entries.push([name, { key: keyPlace, value: located }]);
      else merged.push(...this.mergedEntries(located, keyPlace));
    }
    return { type: "map", place, entries: new Map([...merged, ...entries]) };
  }

  /** The YAML 1.1 merge key, known from docker compose: own keys win, then the first map of a list. */
  private mergedEntries(
    from: LocatedValue,
    place: FilePlace,
  ): [string, { key: FilePlace; value: LocatedValue }][] {
    const maps = from.type === "list" ? from.items : [from];
    if (!maps.every((map) => map.type === "map")) {
      this.problems.add(place, "<< needs a map, as in <<: *defaults");
      return [];
    }
    return maps.toReversed().flatMap((map) => [...map.entries]);
  }
}

const nothing = (place: FilePlace): LocatedScalar => ({ type: "scalar", place, value: null, source: "" });

const scalarOf = (node: Node, place: FilePlace): LocatedScalar => {
  const value: unknown = isScalar(node) ? node.value : null;
  if (typeof value === "string") return { type: "scalar", place, value, source: value };
  if (typeof value !== "number" && typeof value !== "boolean") return nothing(place);
  const source = isScalar(node) ? (node.source ?? String(value)) : "";
  return { type: "scalar", place, value, source };
};
