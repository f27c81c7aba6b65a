/** The same answer of two machines: what tells them apart by nature is taken out, and all else is compared. */
import type { Answer } from "../../../cli/support/commands.ts";

/** An answer without ids, times, digests, paths, numbers, and the names of hosts. */
export interface PlainAnswer {
  readonly exit: number | null;
  readonly code: string | null;
  readonly message: unknown;
  readonly suggestion: unknown;
  readonly data: unknown;
  readonly warnings: unknown;
  /** The types of the records before the envelope. */
  readonly records: readonly string[];
}

export interface Difference {
  readonly command: string;
  /** Members by their names, elements as `[]`. */
  readonly path: string;
  readonly here: unknown;
  readonly there: unknown;
}

type Wording = readonly (readonly [string | RegExp, string])[];

const NATURAL: Wording = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/gi, "ID"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "ID"],
  [/\b(sha256:)?[0-9a-f]{32,64}\b/g, "DIGEST"],
  // Keys and what they sign.
  [/\b[A-Za-z0-9_-]{43,}=*/g, "BYTES"],
  [/\b(nightly)-[0-9a-z]+/g, "$1-ID"],
  [/\d+(\.\d+)?/g, "0"],
];

/** Heartbeats are written in bulk: a worker may end before one of its was, or after. */
const BY_CHANCE = ["heartbeat_at"];

/** Numbers are pids, times, places in a log, sizes: one is as good as another. */
const plainOf = (value: unknown, words: Wording): unknown => {
  if (typeof value === "number") return 0;
  if (typeof value === "string") {
    return [...words, ...NATURAL].reduce((text, [word, name]) => text.replaceAll(word, name), value);
  }
  if (Array.isArray(value)) return value.map((each) => plainOf(each, words));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      plainOf(key, words),
      BY_CHANCE.includes(key) ? "" : plainOf(each, words),
    ]),
  );
};

const recordTypes = (stdout: string): readonly string[] => {
  const types = stdout
    .trimEnd()
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { type?: string }).type ?? "?");
  return [...new Set(types)].toSorted();
};

/** `words`: what the machine calls its directories and hosts, and what takes their place. */
export const plainAnswer = (answer: Answer, words: Wording): PlainAnswer => {
  const { exit, error, data, warnings, stdout } = answer;
  const { code, message, suggestion } = error ?? { code: null, message: null, suggestion: null };
  const rest = plainOf({ message, suggestion, data, warnings }, words) as PlainAnswer;
  return { ...rest, exit, code, records: recordTypes(stdout) };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const differing = (here: unknown, there: unknown, path: string): readonly Omit<Difference, "command">[] => {
  if (isObject(here) && isObject(there)) {
    const keys = new Set([...Object.keys(here), ...Object.keys(there)]);
    return [...keys].flatMap((key) => differing(here[key], there[key], path === "" ? key : `${path}.${key}`));
  }
  if (Array.isArray(here) && Array.isArray(there) && here.length === there.length)
    return here.flatMap((each, at) => differing(each, there[at], `${path}[]`));
  return JSON.stringify(here) === JSON.stringify(there) ? [] : [{ path, here, there }];
};

/** The answers of one machine beside those of another, call by call. */
export const differences = (
  here: ReadonlyMap<string, PlainAnswer>,
  there: ReadonlyMap<string, PlainAnswer>,
): readonly Difference[] =>
  [...here].flatMap(([call, answer]) =>
    differing(answer, there.get(call), "").map((difference) => ({
      command: call.replace(/ .*/, ""),
      ...difference,
    })),
  );
