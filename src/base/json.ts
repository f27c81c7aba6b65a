/**
 * Guards for JSON from other programs. A decoder reads every field through one of these, so no line can make it throw. They
 * are written by hand because they run for every line of every agent.
 */

export type JsonObject = { readonly [key: string]: unknown };

export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

export const asString = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

export const asNumber = (value: unknown): number | undefined =>
  // Adding 0 turns -0 into 0, which JSON keeps.
  typeof value === "number" && Number.isFinite(value) ? value + 0 : undefined;

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A whole number of tokens or bytes; 0 for anything else. */
export const asCount = (value: unknown): number =>
  typeof value === "number" && value >= 1 && value <= Number.MAX_SAFE_INTEGER ? Math.trunc(value) : 0;

/** Bytes of UTF-8 of a text; 0 for anything else. */
export const bytesOf = (value: unknown): number => (typeof value === "string" ? Buffer.byteLength(value) : 0);

/** Whether a JSON text has more than `max` objects, lists and members. The contents of its strings do not count. */
export const hasMoreValues = (text: string, max: number): boolean => {
  let values = 0;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    for (; at < end; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === COMMA || unit === BRACKET || unit === BRACE) values += 1;
    }
    if (values > max) return true;
    at = quote === -1 ? end : afterString(text, quote + 1);
  }
  return false;
};

const [COMMA, BRACKET, BRACE, BACKSLASH] = [0x2c, 0x5b, 0x7b, 0x5c];

/** The index behind the quote that ends the string in which `from` lies. */
const afterString = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (quote - slashes > from && text.charCodeAt(quote - slashes - 1) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
};

/** The object that a line holds, or why there is none. */
export const parseLine = (text: string): JsonObject | "blank" | "not_json" | "not_an_object" => {
  try {
    return asObject(JSON.parse(text)) ?? "not_an_object";
  } catch {
    return text.trim() === "" ? "blank" : "not_json";
  }
};

/**
 * A name or id that the agent gives (a tool, a model, a call), or null. It is 1 to 128 printable ASCII characters that JSON
 * need not escape, so that a decoder remembers a bounded number of bytes.
 */
export const asName = (value: unknown): string | null =>
  typeof value === "string" && /^[ !#-[\]-~]{1,128}$/.test(value) ? value : null;

/** A word of the agent's own vocabulary that may stand in one of our sentences: `end_turn`, never free text. */
export const asWord = (value: unknown): string | null =>
  typeof value === "string" && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(value) ? value : null;
