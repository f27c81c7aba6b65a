/** Replaces `${NAME}`, `${NAME:-default}` and `${env:NAME}` in the texts of a file. `$${…}` becomes `${…}`, for a shell to read. */
import { TREE_FILE_MAX_BYTES } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import type { FilePlace, LocatedMap, LocatedValue } from "./located.ts";
import type { Problems } from "./problems.ts";

export interface Scope {
  readonly values: ReadonlyMap<string, string>;
  /** The client's variables, reached only by `${env:NAME}`, so that a file shows what it takes from outside. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly problems: Problems;
  /** Shared by all scopes of one file: the names used, and the length of the expanded text so far. */
  readonly seen: { readonly names: Set<string>; chars: number };
}

const REFERENCE = /\$(\$?)\{([^{}]*)\}/g;
const INSIDE = /^(env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

const referenceOf = (inside: string, scope: Scope, place: FilePlace): string => {
  const [, env, name = "", fallback] = INSIDE.exec(inside) ?? [];
  const { values, problems } = scope;
  if (name === "") {
    problems.add(
      place,
      `\${${inside}} is no variable, as in \${NAME}, \${NAME:-default} or \${env:NAME}; write $\${${inside}} to keep it as it is`,
    );
    return "";
  }
  if (env === undefined) scope.seen.names.add(name);
  const value = env === undefined ? values.get(name) : scope.env[name];
  // As in a shell, :- also replaces an empty value.
  if (fallback !== undefined) return value || fallback;
  if (value !== undefined) return value;
  problems.add(
    place,
    env === undefined
      ? `there is no variable ${name}${didYouMean(name, [...values.keys()]) || `; add it to variables, write \${${name}:-default} or \${env:${name}}, or $\${${name}} to leave it to a shell`}`
      : `your environment has no variable ${name}; set it, or write \${env:${name}:-default}`,
  );
  return "";
};

const substitute = (text: string, scope: Scope, place: FilePlace): string => {
  if (!text.includes("${")) return text;
  return text.replace(REFERENCE, (_whole, escaped: string, inside: string) => {
    if (escaped !== "") return `\${${inside}}`;
    const made = referenceOf(inside, scope, place);
    scope.seen.chars += made.length;
    if (scope.seen.chars <= TREE_FILE_MAX_BYTES) return made;
    scope.problems.add(place, `the variables of the file become more than ${TREE_FILE_MAX_BYTES} characters`);
    return "";
  });
};

/** Replaces variables in every text of a value, but not in keys. */
export const substituteAll = (node: LocatedValue, scope: Scope): LocatedValue => {
  switch (node.type) {
    case "scalar": {
      if (typeof node.value !== "string") return node;
      const value = substitute(node.value, scope, node.place);
      return value === node.value ? node : { ...node, value, source: value };
    }
    case "list":
      return { ...node, items: node.items.map((item) => substituteAll(item, scope)) };
    case "map":
      return {
        ...node,
        entries: new Map(
          [...node.entries].map(([key, { key: place, value }]) => [
            key,
            { key: place, value: substituteAll(value, scope) },
          ]),
        ),
      };
  }
};

/** A scope with further names; each value may use the names before it. A value in `given` overrides the written one. */
export const withVariables = (
  scope: Scope,
  written: readonly (LocatedMap | undefined)[],
  given: ReadonlyMap<string, string> = new Map(),
): Scope => {
  const sources = new Map(written.flatMap((map) => [...(map?.entries ?? [])]));
  const values = new Map([...scope.values, ...given]);
  for (const [name, { value }] of sources)
    if (!given.has(name) && value.type === "scalar")
      values.set(name, substitute(value.source, { ...scope, values: new Map(values) }, value.place));
  return { ...scope, values };
};
