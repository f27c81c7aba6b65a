/**
 * The JSON texts of small answers that are asked for again and have not changed, as a client that polls `agent/info` asks. Masking and
 * writing such an answer took a third of the daemon's time for it; a comparison with the copy takes a fifth of that.
 */
import { SAME_ANSWER_MAX_CHARS, SAME_ANSWERS_MAX } from "../base/limits.ts";
import { redactValue, shownOnce } from "./redact.ts";

interface AnswerCopy {
  /** A private copy: the answer itself may hold objects that change. */
  readonly data: unknown;
  readonly text: string;
}

/** By command and id; undefined for one that was asked for only once, or has changed since. */
const remembered = new Map<string, AnswerCopy | undefined>();

/** Gives the text of `JSON.stringify(redactValue(data))`. */
export const answerText = (command: string, data: object): string => {
  const { id } = data as { readonly id?: unknown };
  if (typeof id !== "string") return JSON.stringify(redactValue(data));
  const key = `${command} ${id}`;
  const known = remembered.get(key);
  if (known !== undefined && isSame(known.data, data)) return known.text;
  const text = JSON.stringify(redactValue(data));
  const isAgain = known === undefined && remembered.has(key) && text.length <= SAME_ANSWER_MAX_CHARS;
  if (remembered.size >= SAME_ANSWERS_MAX && !remembered.has(key)) remembered.clear();
  remembered.set(key, isAgain ? { data: copyOf(data), text } : undefined);
  return text;
};

/** Equal to nothing. */
const OTHER = Number.NaN;

const isPlain = (value: object): boolean =>
  Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;

const copyOf = (value: unknown): unknown => {
  if (typeof value === "function") return OTHER;
  if (typeof value !== "object" || value === null || shownOnce(value) !== undefined) return value;
  if (!isPlain(value)) return OTHER;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
};

const isSame = (copy: unknown, value: unknown): boolean => {
  if (copy === value) return true;
  if (typeof copy !== "object" || copy === null || typeof value !== "object" || value === null) return false;
  if (Array.isArray(copy) !== Array.isArray(value) || !isPlain(value)) return false;
  const [known, names] = [Object.keys(copy), Object.keys(value)];
  if (names.length !== known.length) return false;
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    // The order of the members is that of the text.
    if (name !== known[at]) return false;
    if (!isSame((copy as Record<string, unknown>)[name], (value as Record<string, unknown>)[name]))
      return false;
  }
  return true;
};
