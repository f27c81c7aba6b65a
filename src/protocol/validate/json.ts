/**
 * Reads one JSON value from untrusted bytes, bounded in size and depth. It also reports what JSON.parse does not: the end of
 * the value, the line of each member, and duplicate members. JSON.parse alone decides what is JSON; the scanner only follows
 * brackets and strings.
 */
import { ENVELOPE_MAX_BYTES, ENVELOPE_MAX_DEPTH, LINES_KNOWN_DEPTH } from "../../base/limits.ts";
import { pointerOf } from "./finding.ts";

export interface Fault {
  readonly kind: "size" | "empty" | "utf8" | "syntax" | "depth" | "duplicate" | "number" | "trailing";
  readonly pointer: string;
  readonly line: number;
  readonly message: string;
}

export interface JsonRead {
  /** Undefined if there is no value; `faults` then say why. */
  readonly value?: unknown;
  readonly faults: readonly Fault[];
  lineOf(pointer: string): number;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const SPACE = /[ \t\r\n]*/y;
/** Duplicate members that are reported for one value. */
const DUPLICATES_MAX = 20;

/** The place of a duplicate member in a JSON text; undefined if there is none. */
export const duplicateIn = (text: string): string | undefined =>
  scanValue(text, afterSpace(text, 0), 1).duplicates[0]?.pointer;

export interface JsonBounds {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

const OF_ENVELOPES: JsonBounds = { maxBytes: ENVELOPE_MAX_BYTES, maxDepth: ENVELOPE_MAX_DEPTH };

/** `firstLine` is the line of the input on which the bytes begin. */
export const readJson = (
  bytes: Uint8Array,
  firstLine = 1,
  { maxBytes, maxDepth }: JsonBounds = OF_ENVELOPES,
): JsonRead => {
  const none = (kind: Fault["kind"], message: string, line = firstLine): JsonRead => ({
    faults: [{ kind, pointer: "", line, message }],
    lineOf: () => line,
  });
  if (bytes.length > maxBytes) return none("size", `It is over ${maxBytes} bytes.`);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return none("utf8", "It is not UTF-8.");
  }
  const start = afterSpace(text, 0);
  if (start === text.length) return none("empty", "It is empty.");
  const scan = scanValue(text, start, firstLine, maxDepth);
  if (scan.tooDeep !== undefined)
    return none("depth", `It nests over ${maxDepth} levels deep.`, scan.tooDeep);
  let value: unknown;
  try {
    value = JSON.parse(text.slice(start, scan.end));
  } catch (cause) {
    return none("syntax", syntaxMessage(text, cause), scan.line);
  }
  const faults = [...scan.duplicates];
  const rest = afterSpace(text, scan.end);
  if (rest < text.length)
    faults.push({
      kind: "trailing",
      pointer: "",
      line: lineAt(text, rest, firstLine),
      message: "There is more after the value.",
    });
  const lineOf = (pointer: string): number => {
    for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      const line = scan.lines.get(at);
      if (line !== undefined) return line;
    }
    return scan.firstLine;
  };
  const huge = hugeNumber(value, []);
  if (huge !== undefined)
    faults.push({
      kind: "number",
      pointer: huge,
      line: lineOf(huge),
      message: "The number is larger than a double holds.",
    });
  return { value, faults, lineOf };
};

const afterSpace = (text: string, from: number): number => {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return SPACE.lastIndex;
};

const lineAt = (text: string, at: number, firstLine: number): number => {
  let line = firstLine;
  for (let next = text.indexOf("\n"); next !== -1 && next < at; next = text.indexOf("\n", next + 1))
    line += 1;
  return line;
};

const syntaxMessage = (text: string, cause: unknown): string =>
  text.startsWith("\ufeff")
    ? "It begins with a byte order mark."
    : `It is not JSON: ${(cause as Error).message.slice(0, 200)}.`;

interface OpenContainer {
  /** The members of the object so far. */
  readonly keys: Set<string> | undefined;
  /** The current step of the path. */
  step: string | number;
}

interface Scan {
  /** The index behind the value. */
  readonly end: number;
  readonly firstLine: number;
  /** The line on which the scan ended. */
  readonly line: number;
  readonly tooDeep: number | undefined;
  readonly duplicates: Fault[];
  readonly lines: ReadonlyMap<string, number>;
}

/** Also ends for text that is not JSON; the result is then arbitrary. */
const scanValue = (text: string, start: number, firstLine: number, maxDepth = ENVELOPE_MAX_DEPTH): Scan => {
  const open: OpenContainer[] = [];
  const duplicates: Fault[] = [];
  const lines = new Map<string, number>();
  let line = lineAt(text, start, firstLine);
  const first = line;
  let [at, isKey] = [start, false];

  const hasLines = text.includes("\n", start);
  const path = (): string => pointerOf(...open.map(({ step }) => step));

  const enterMember = ({ keys, step }: OpenContainer): void => {
    const key = String(step);
    if (hasLines && open.length <= LINES_KNOWN_DEPTH) lines.set(path(), line);
    if (keys?.has(key) && duplicates.length < DUPLICATES_MAX)
      duplicates.push({
        kind: "duplicate",
        pointer: path(),
        line,
        message: `The member ${JSON.stringify(key.slice(0, 100))} is there twice.`,
      });
    keys?.add(key);
  };
  const done = (tooDeep?: number): Scan => ({ end: at, firstLine: first, line, tooDeep, duplicates, lines });

  for (; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "\n") line += 1;
    else if (char === '"') {
      const close = endOfString(text, at);
      if (isKey) {
        const top = open.at(-1)!;
        top.step = keyOf(text.slice(at, close));
        isKey = false;
        enterMember(top);
      }
      at = close - 1;
    } else if (char === "{" || char === "[") {
      if (open.length === maxDepth) return done(line);
      open.push({ keys: char === "{" ? new Set() : undefined, step: 0 });
      isKey = char === "{";
    } else if (char === "}" || char === "]") {
      open.pop();
      isKey = false;
      if (open.length === 0) {
        at += 1;
        return done();
      }
    } else if (char === "," && open.length > 0) {
      const top = open.at(-1)!;
      if (top.keys !== undefined) isKey = true;
      else top.step = Number(top.step) + 1;
    }
    // A top-level string, number or word ends with its last character.
    if (open.length === 0) {
      if (char === '"') at += 1;
      else while (at < text.length && !/[\s,:{}[\]"]/.test(text[at]!)) at += 1;
      if (at === start) at += 1;
      return done();
    }
  }
  return done();
};

/** The index behind the closing quote, or the end of the text. */
export const endOfString = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
};

/** The key as JSON.parse reads it, so that `"a"` and `"\u0061"` are the same. */
const keyOf = (quoted: string): string => {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
};

const hugeNumber = (value: unknown, path: readonly string[]): string | undefined => {
  if (typeof value === "number" && !Number.isFinite(value)) return pointerOf(...path);
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== "object" && typeof item !== "number") continue;
    if (typeof item === "number" && Number.isFinite(item)) continue;
    const found = hugeNumber(item, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
};
