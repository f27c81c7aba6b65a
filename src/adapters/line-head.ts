/** The beginning of a line of JSON that nobody has read whole. */
import type { JsonObject } from "./json.ts";

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/y;

/** Fields of the object itself that are whole: strings, numbers, true, false, null. Anything else than an object has none. */
export const fieldsOfHead = (head: string): JsonObject => {
  const fields = new Map<string, unknown>();
  let depth = 0;
  let key: string | undefined;
  let value: string | undefined;
  const ended = (): void => {
    if (key !== undefined && value !== undefined) fields.set(String(parsed(key)), parsed(value));
    key = undefined;
    value = undefined;
  };
  for (const token of tokensOf(head)) {
    if (depth === 0 && token !== "{") break;
    if (token === "}" || token === "]") depth -= 1;
    if (depth <= 1) {
      if (token === "," || depth === 0) ended();
      else if (token === ":") [key, value] = [value, undefined];
      else value = token;
    }
    if (token === "{" || token === "[") depth += 1;
  }
  return Object.fromEntries([...fields].filter(([, known]) => typeof known !== "object" || known === null));
};

/** Up to where the text is cut. */
function* tokensOf(head: string): Generator<string> {
  const token = new RegExp(TOKEN);
  for (let found = token.exec(head); found !== null; found = token.exec(head)) yield found[1]!;
}

const parsed = (token: string): unknown => {
  try {
    return JSON.parse(token);
  } catch {
    return {};
  }
};
