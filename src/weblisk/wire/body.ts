/**
 * Reads and writes the JSON of the wire. A body in which two readers could see two values is refused before anything of it is
 * believed, since signatures cover what the other side read: duplicate members, invalid UTF-8, lone surrogates, integers that a
 * double does not hold. No null is ever written (weblisk.txt, Type Rules). Pure.
 */
import { asObject, hasMoreValues, type JsonObject } from "../../base/json.ts";
import { WEBLISK_BODY_MAX_BYTES, WEBLISK_DEPTH_MAX, WEBLISK_VALUES_MAX } from "../../base/limits.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { type Fault, readJson } from "../../protocol/validate/json.ts";
import { rawMembers } from "./raw-members.ts";
import { WebliskRefusal } from "./refusal.ts";

/** A JSON object as it arrived. */
export interface WireBody {
  /** Everything that came, known or not. */
  readonly value: JsonObject;
  /** The text of each member of the object, exactly as it came: what a signature of the other side covers. */
  readonly raw: ReadonlyMap<string, string>;
}

const REASONS: Readonly<Record<Fault["kind"], string>> = {
  size: "body_too_large",
  empty: "body_missing",
  utf8: "not_utf8",
  syntax: "not_json",
  depth: "too_deep",
  duplicate: "duplicate_member",
  number: "unsafe_number",
  trailing: "more_than_one_value",
};

const refused = (reason: string, message: string, http = 400): WebliskRefusal =>
  new WebliskRefusal("INVALID_REQUEST", message, { reason, http });

/** The body is over its bound, by its bytes as received. */
export const tooLarge = (maxBytes: number): WebliskRefusal =>
  refused("body_too_large", `The body is over ${maxBytes} bytes; send less.`, 413);

/** Throws a WebliskRefusal unless the bytes are one JSON object that every reader reads alike. */
export const readBody = (bytes: Uint8Array, maxBytes = WEBLISK_BODY_MAX_BYTES): WireBody => {
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  // Before it is parsed, because each value takes many times its length in memory.
  if (hasMoreValues(text, WEBLISK_VALUES_MAX))
    throw refused("too_many_values", `The body has over ${WEBLISK_VALUES_MAX} values; send less.`);
  const { value, faults } = readJson(bytes, 1, { maxBytes, maxDepth: WEBLISK_DEPTH_MAX });
  const [fault] = faults;
  if (fault !== undefined)
    throw refused(
      REASONS[fault.kind],
      `The body is no JSON that can be read in one way only: ${fault.message}`,
    );
  const object = asObject(value);
  if (object === undefined) throw refused("not_an_object", "The body is no JSON object; send one.");
  const ambiguous = ambiguityIn(object);
  if (ambiguous !== undefined) throw refused(...ambiguous);
  return { value: object, raw: rawMembers(text) };
};

/** A value that another language would read as another one. Nesting is bounded by now. */
const ambiguityIn = (value: unknown): readonly [reason: string, message: string] | undefined => {
  if (typeof value === "number")
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? ["unsafe_number", "The body has an integer beyond 2^53 - 1; send it as a string."]
      : undefined;
  if (typeof value === "string") return value.isWellFormed() ? undefined : LONE_SURROGATE;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (!key.isWellFormed()) return LONE_SURROGATE;
    const found = ambiguityIn(item);
    if (found !== undefined) return found;
  }
  return undefined;
};

const LONE_SURROGATE = [
  "lone_surrogate",
  "The body has half a surrogate pair, which is no character; send whole characters.",
] as const;

/** Without members and elements that are null: an inbound null reads as absent. */
export const withoutNulls = <T>(value: T): T => (hasNone(value) ? kept(value) : value);

const isNone = (value: unknown): boolean => value === null || value === undefined;

const hasNone = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).some((item) => isNone(item) || hasNone(item));

const kept = <T>(value: T): T => {
  if (Array.isArray(value)) return value.filter((item) => !isNone(item)).map(kept) as T;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, item]) => !isNone(item));
  return Object.fromEntries(members.map(([key, item]) => [key, kept(item)])) as T;
};

/**
 * The text of an object: members in the order given, each value as canonical JSON (RFC 8785), none null. So a signature over
 * members in the document's order and one over canonical JSON both hold for what is sent.
 */
export const wireJson = (value: JsonObject): string => {
  // A list may stand there under two names.
  const texts = new Map<unknown, string>();
  const members = Object.entries(value).flatMap(([key, item]) => {
    if (item === null || item === undefined) return [];
    const text = texts.get(item) ?? canonicalJson(withoutNulls(item));
    texts.set(item, text);
    return [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(",")}}`;
};
