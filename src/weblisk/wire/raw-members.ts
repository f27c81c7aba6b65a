/** The texts of an object's members as they arrived: JSON.parse loses escapes, blanks and the order of integer-like names. Pure. */
import { endOfString } from "../../protocol/validate/json.ts";

/** The object of these members, each as it is written here. */
export const textOfMembers = (members: ReadonlyMap<string, string>): string =>
  `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;

/** `text` is a valid JSON object without duplicate members. */
export const rawMembers = (text: string): ReadonlyMap<string, string> => {
  const members = new Map<string, string>();
  let [depth, name, from] = [0, undefined as string | undefined, -1];
  const end = (at: number): void => {
    if (name !== undefined) members.set(name, text.slice(from, at).trim());
    [name, from] = [undefined, -1];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const close = endOfString(text, at);
      if (depth === 1 && name === undefined) {
        name = JSON.parse(text.slice(at, close)) as string;
        from = text.indexOf(":", close) + 1;
      }
      at = close - 1;
    } else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      if (depth === 1) end(at);
      depth -= 1;
    } else if (char === "," && depth === 1) end(at);
  }
  return members;
};
