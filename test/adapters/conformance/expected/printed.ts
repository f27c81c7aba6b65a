/**
 * An agent's output, read a second time: all lines are collected first and then asked, where a decoder folds them one by
 * one. Nothing here or beside it imports anything of src: what the readers say is derived from the lines alone.
 */

type JsonObject = { readonly [key: string]: unknown };

export interface Printed {
  readonly text: string;
  /** The object that the line holds; undefined where it holds none. */
  readonly value: JsonObject | undefined;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const readLine = (text: string): Printed => ({ text, value: parsed(text) });

export const readLines = (stdout: string): readonly Printed[] =>
  stdout
    .split("\n")
    .filter((text) => text.trim() !== "")
    .map(readLine);

/** The member at a path of names, `"message.id"`; undefined where there is none. */
export const get = (value: unknown, path: string): unknown => {
  let at: unknown = value;
  for (const name of path.split(".")) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
};

export const getText = (value: unknown, path: string): string | undefined => {
  const found = get(value, path);
  return typeof found === "string" ? found : undefined;
};

/** A count, or 0. */
export const getCount = (value: unknown, path: string): number => {
  const found = get(value, path);
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? found : 0;
};

export const getList = (value: unknown, path: string): readonly unknown[] => {
  const found = get(value, path);
  return Array.isArray(found) ? found : [];
};

/** The lines that hold an object of one of these types, as objects. */
export const ofType = (lines: readonly Printed[], ...types: readonly string[]): readonly JsonObject[] =>
  lines.flatMap(({ value }) =>
    value !== undefined && types.includes(String(get(value, "type"))) && typeof value.type === "string"
      ? [value]
      : [],
  );

/** The values that they hold, in order, each once. */
export const distinct = (values: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== undefined && value.trim() !== "") as readonly string[]),
];

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Lines that hold no object, or one of a type that is none of these. */
export const unlisted = (lines: readonly Printed[], types: ReadonlySet<string>): readonly Printed[] =>
  lines.filter(({ value }) => {
    const type = getText(value, "type");
    return type === undefined || !types.has(type);
  });
