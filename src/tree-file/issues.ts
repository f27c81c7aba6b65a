/** The findings of zod, in words: which key, what it needs, what was meant. */
import type * as z from "zod";
import { didYouMean, nearest } from "../base/suggest.ts";
import { describe, type Located, placeOfKey, plain, valueAt } from "./located.ts";
import type { Problems } from "./problems.ts";

/** Params of an issue of a schema of ours that is about the name of a key, and not about its value. */
export const ABOUT_KEY = { about: "key" } as const;

type Issue = z.core.$ZodIssue;

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
  /** Keys that would be right elsewhere, and where. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Words that are a key nowhere, and what is written instead. */
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

/** The schema gives no sentence of its own for it. */
const isOfZod = ({ message }: Issue): boolean => /^(Invalid input|Too big)/.test(message);

const restOf = (issue: Issue, found: Located | undefined): string => {
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
      // NodeName's message is a whole sentence.
      return issue.message.replace(/^a name has/, "has");
  }
};

const not = (found: Located | undefined): string => (found === undefined ? "" : `, not ${describe(found)}`);
const wrong = (needs: string, found: Located | undefined): string => `${needs}${not(found)}`;

/** The keys of the object in which an unknown one stands: of the subject itself, or of a part such as `ready`. */
const knownKeys = (schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] | undefined => {
  let at: unknown = schema;
  for (const key of path) at = shapeOf(at)?.[String(key)];
  return Object.keys(shapeOf(at) ?? {});
};

/** Unwraps optional, pipe (transform), refinement and union to the object inside. */
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

/** A union of a text and an object says only that neither fits: what is wrong inside of the object is better. */
const insideUnion = (issue: Issue, found: Located | undefined): readonly Issue[] => {
  if (issue.code !== "invalid_union" || found?.type !== "map") return [issue];
  const deeper = issue.errors.find((errors) =>
    errors.every((each) => each.code === "unrecognized_keys" || each.path.length > 0),
  );
  return deeper === undefined
    ? [issue]
    : deeper.map((each) => ({ ...each, path: [...issue.path, ...each.path] }) as Issue);
};

/** A key is written, or one that is meant to be it: then what is missing has been told. */
export const isWritten = (node: Located, key: string, keys: readonly string[]): boolean =>
  node.type === "map" &&
  [...node.entries.keys()].some(
    (typed) => typed === key || (!keys.includes(typed) && nearest(typed, keys) === key),
  );

/** Checks a node against a schema. All that is wrong is added; the value is undefined then. */
export const check = <S extends z.ZodType>(
  schema: S,
  node: Located,
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
  issue: Issue,
  schema: z.ZodType,
  node: Located,
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

/** As `check`; beside mistakes it still gives the keys that are right, so that whatever else is wrong is told too. */
export const checkKeys = <S extends z.ZodObject>(
  schema: S,
  node: Located,
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

/** A map's value for a schema, without the keys that are read apart. */
export const plainKeys = (node: Located, asText: readonly string[] = []): Record<string, unknown> =>
  node.type !== "map"
    ? {}
    : Object.fromEntries(
        [...node.entries].map(([key, { value }]) => [key, plain(value, asText.includes(key))]),
      );
