/** References to secrets in the MCP servers of a worker. The client loads this file, so it has no schema. */
import { asObject } from "../base/json.ts";

const SECRET = /^((?:[A-Za-z][\w-]* )?)(@(?:env|file):.+)$/s;

/** The reference in a value, and the word and space before it; undefined for a value without one. */
export const secretIn = (
  value: string,
): { readonly before: string; readonly reference: string } | undefined => {
  const [, before = "", reference] = SECRET.exec(value) ?? [];
  return reference === undefined ? undefined : { before, reference };
};

/** All values of a worker's servers that may hold a reference, also of servers that nobody has checked. */
const mcpValues = (mcp: unknown): readonly unknown[] =>
  Object.values(asObject(mcp) ?? {}).flatMap((given) => {
    const server = asObject(given);
    return [...Object.values(asObject(server?.env) ?? {}), ...Object.values(asObject(server?.headers) ?? {})];
  });

/** The names of the client's variables to which its servers refer. */
export const mcpVariables = (mcp: unknown): readonly string[] =>
  mcpValues(mcp).flatMap((value) =>
    typeof value === "string" ? (/^@env:(.+)$/s.exec(secretIn(value)?.reference ?? "")?.[1] ?? []) : [],
  );
