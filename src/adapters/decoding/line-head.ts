/** Parses the beginning of a JSON line that was too long to read. */
import type { JsonObject } from "../../base/json.ts";

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/y;

/** The members of an object by key, or of a list by index. */
type FieldMap = Map<string, unknown>;

/**
 * The object as far as its line was read: complete strings, numbers, booleans and nulls, and objects and
 * lists with their complete members. Empty if the line is not an object.
 */
export const objectOfHead = (head: string): JsonObject => {
  const open: { readonly is_list: boolean; readonly members: FieldMap; key?: string | undefined }[] = [];
  let whole: FieldMap | undefined;
  let scalar: string | undefined;
  const put = (value: unknown): void => {
    const into = open.at(-1);
    if (into === undefined) return;
    const key = into.is_list ? String(into.members.size) : into.key;
    into.key = undefined;
    if (key !== undefined) into.members.set(key, value);
  };
  const ended = (): void => {
    const value = scalar === undefined ? undefined : parsed(scalar);
    scalar = undefined;
    if (value !== undefined) put(value);
  };
  for (const token of tokensOf(head)) {
    if (whole === undefined && token !== "{") break;
    if (token === "{" || token === "[") {
      const members: FieldMap = new Map();
      whole ??= members;
      put(token === "[" ? new List(members) : members);
      open.push({ is_list: token === "[", members });
    } else if (token === ",") ended();
    else if (token === "}" || token === "]") {
      ended();
      open.pop();
      if (open.length === 0) break;
    } else if (token === ":") {
      const into = open.at(-1);
      const key = scalar === undefined ? undefined : parsed(scalar);
      if (into !== undefined) into.key = typeof key === "string" ? key : undefined;
      scalar = undefined;
    } else scalar = token;
  }
  return plain(whole ?? new Map()) as JsonObject;
};

class List {
  readonly members: FieldMap;
  constructor(members: FieldMap) {
    this.members = members;
  }
}

const plain = (value: unknown): unknown => {
  if (value instanceof List) return [...value.members.values()].map(plain);
  return value instanceof Map
    ? Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]))
    : value;
};

/** The tokens before the cut. */
function* tokensOf(head: string): Generator<string> {
  const token = new RegExp(TOKEN);
  for (let found = token.exec(head); found !== null; found = token.exec(head)) yield found[1]!;
}

const parsed = (token: string): unknown => {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
};
