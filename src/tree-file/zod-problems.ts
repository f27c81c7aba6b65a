/** Puts zod's findings into words: which key, what it needs, and what was probably meant. */
import type * as z from "zod";
import { didYouMean, nearest } from "../base/suggest.ts";
import { describe, type LocatedValue, placeOfKey, plain, valueAt } from "./located.ts";
import type { Problems } from "./problems.ts";

/** Marks an issue in our schemas that concerns the name of a key, not its value. */
export const ABOUT_KEY = { about: "key" } as const;

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "keys and values",
  record: "keys and values",
};

export interface Subject {
  /** `a worker`, `a supervisor`, `the file`. */
  readonly what: string;
  readonly keys: readonly string[];
  /** Keys that belong elsewhere, and where. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Words that are never keys, and what to write instead. */
  readonly instead?: Readonly<Record<string, string>>;
}

const unknownKey = (key: string, { what, keys, elsewhere = {}, instead = {} }: Subject): string => {
  const meant = didYouMean(key, keys);
  if (meant !== "") return `${what} has no "${key}"${meant}`;
  const word = nearest(key, Object.keys(instead));
  if (word !== undefined) return `${what} has no "${key}"; ${instead[word]}`;
  const other = Object.hasOwn(elsewhere, key) ? key : nearest(key, Object.keys(elsewhere));
  if (other !== undefined)
    return `${what} has no ${key}; ${other === key ? "" : `did you mean ${other}? `}${elsewhere[other]}`;
  return `${what} has no "${key}"; its keys are ${keys.join(", ")}`;
};

/** `argv[1]`, `ready.port`. */
const keyOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : `${at === 0 ? "" : "."}${String(part)}`))
    .join("");

/** zod's own message: the schema has no sentence for it. */
const isOfZod = ({ message }: z.core.$ZodIssue): boolean => /^(Invalid input|Too big)/.test(message);

const restOf = (issue: z.core.$ZodIssue, found: LocatedValue | undefined): string => {
  switch (issue.code) {
    case "invalid_type":
      return EXPECTED[issue.expected] === undefined || !isOfZod(issue)
        ? wrong(issue.message, found)
        : wrong(`needs ${EXPECTED[issue.expected]}`, found);
    case "invalid_union":
      return wrong(issue.message, found);
    case "invalid_value": {
      const values = issue.values.map(String);
      const typed = found?.type === "scalar" ? found.source : "";
      return `is ${values.length === 1 ? "" : "one of "}${values.join(", ")}${not(found)}${didYouMean(typed, values)}`;
    }
    case "too_big":
      return isOfZod(issue) ? `may be at most ${issue.maximum} long` : issue.message;
    default:
      // NodeName's message is a whole sentence already.
      return issue.message.replace(/^a name has/, "has");
  }
};

const not = (found: LocatedValue | undefined): string =>
  found === undefined ? "" : `, not ${describe(found)}`;
const wrong = (needs: string, found: LocatedValue | undefined): string => `${needs}${not(found)}`;

/** The keys of the object that holds the unknown key: the subject, or a part such as `ready`. */
const knownKeys = (schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] | undefined => {
  let at: unknown = schema;
  for (const key of path) at = shapeOf(at)?.[String(key)];
  return Object.keys(shapeOf(at) ?? {});
};

/** Unwraps optional, pipe (transform), refinement and union down to the object. */
const shapeOf = (schema: unknown): Record<string, unknown> | undefined => {
  const def = (schema as z.core.$ZodType | undefined)?._zod.def as
    | {
        shape?: Record<string, unknown>;
        innerType?: unknown;
        in?: unknown;
        options?: unknown[];
        valueType?: unknown;
      }
    | undefined;
  if (def === undefined) return undefined;
  if (def.shape !== undefined) return def.shape;
  if (def.valueType !== undefined) return new Proxy({}, { get: () => def.valueType, ownKeys: () => [] });
  for (const inner of [def.innerType, def.in, ...(def.options ?? [])]) {
    const shape = shapeOf(inner);
    if (shape !== undefined) return shape;
  }
  return undefined;
};

/** For a union of a text and an object, zod only says that neither fits; the mistake inside the object says more. */
const insideUnion = (
  issue: z.core.$ZodIssue,
  found: LocatedValue | undefined,
): readonly z.core.$ZodIssue[] => {
  if (issue.code !== "invalid_union" || found?.type !== "map") return [issue];
  const deeper = issue.errors.find((errors) =>
    errors.every((each) => each.code === "unrecognized_keys" || each.path.length > 0),
  );
  return deeper === undefined
    ? [issue]
    : deeper.map((each) => ({ ...each, path: [...issue.path, ...each.path] }) as z.core.$ZodIssue);
};

/** Whether the key is present, possibly misspelt: its mistake has then been reported. */
export const isWritten = (node: LocatedValue, key: string, keys: readonly string[]): boolean =>
  node.type === "map" &&
  [...node.entries.keys()].some(
    (typed) => typed === key || (!keys.includes(typed) && nearest(typed, keys) === key),
  );

/** Checks a node against a schema and reports all mistakes. The value is undefined if there are any. */
export const check = <S extends z.ZodType>(
  schema: S,
  node: LocatedValue,
  value: unknown,
  subject: Subject,
  problems: Problems,
  path = "",
): z.output<S> | undefined => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    for (const each of insideUnion(issue, valueAt(node, issue.path)))
      addIssue(each, schema, node, subject, problems, path);
  return undefined;
};

const addIssue = (
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  node: LocatedValue,
  subject: Subject,
  problems: Problems,
  path: string,
): void => {
  const found = valueAt(node, issue.path);
  const last = issue.path.at(-1);
  const holder = valueAt(node, issue.path.slice(0, -1));
  if (issue.code === "unrecognized_keys") {
    const about: Subject =
      issue.path.length === 0
        ? subject
        : { what: keyOf(issue.path), keys: knownKeys(schema, issue.path) ?? [] };
    for (const key of issue.keys)
      problems.add(placeOfKey(found, key, node.place), unknownKey(key, about), path);
  } else if (last === undefined) problems.add(node.place, `${subject.what} ${restOf(issue, node)}`, path);
  else if (found === undefined) {
    if (holder !== undefined && !isWritten(holder, String(last), subject.keys))
      problems.add(holder.place, `${subject.what} needs the key ${keyOf(issue.path)}`, path);
  } else if (issue.code === "custom" && issue.params?.about === ABOUT_KEY.about)
    problems.add(placeOfKey(holder, String(last), node.place), `${keyOf(issue.path)} ${issue.message}`, path);
  else problems.add(found.place, `${keyOf(issue.path)} ${restOf(issue, found)}`, path);
};

/** Like `check`, but also returns the correct keys of a node with mistakes, so that further mistakes are found. */
export const checkKeys = <S extends z.ZodObject>(
  schema: S,
  node: LocatedValue,
  value: Readonly<Record<string, unknown>>,
  subject: Subject,
  problems: Problems,
  path: string,
): { readonly keys: Partial<z.output<S>>; readonly isWhole: boolean } => {
  const checked = check(schema, node, value, subject, problems, path);
  if (checked !== undefined) return { keys: checked as Partial<z.output<S>>, isWhole: true };
  const right = Object.entries(schema.shape).flatMap(([key, each]) => {
    const one = (each as z.ZodType).safeParse(value[key]);
    return one.success && one.data !== undefined ? [[key, one.data]] : [];
  });
  return { keys: Object.fromEntries(right), isWhole: false };
};

/** A map's value for a schema, without the keys that are handled separately. */
export const plainKeys = (node: LocatedValue, asText: readonly string[] = []): Record<string, unknown> =>
  node.type !== "map"
    ? {}
    : Object.fromEntries(
        [...node.entries].map(([key, { value }]) => [key, plain(value, asText.includes(key))]),
      );
