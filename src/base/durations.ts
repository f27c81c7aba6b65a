/**
 * Amounts as people write them (docs/reference/commands.md): durations `500ms 10s 5m 2h 1d`, sizes `64KB 1MB`, counts `2M`, and
 * values that are made of them. `parse*` gives the number or undefined. `read*` gives the value, or the problem as the rest
 * of a sentence that begins with the name of the value. The client loads this file, so it has no imports that cost time.
 */
import { DURATION_MAX_MS, RESTARTS_MAX } from "./limits.ts";

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

const good = <T>(value: T): Reading<T> => ({ ok: true, value });
const bad = (problem: string): Reading<never> => ({ ok: false, problem });

const DURATION_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1_024,
  kb: 1_024,
  kib: 1_024,
  m: 1_024 ** 2,
  mb: 1_024 ** 2,
  mib: 1_024 ** 2,
  g: 1_024 ** 3,
  gb: 1_024 ** 3,
  gib: 1_024 ** 3,
};
const COUNT_UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };

/** At most 15 digits, so that each number is exact. */
const AMOUNT = /^(\d{1,15}(?:\.\d{1,9})?)([a-z]{0,3})$/i;

const parseAmount = (text: string, units: Readonly<Record<string, number>>): number | undefined => {
  const [, amount, suffix = ""] = AMOUNT.exec(text) ?? [];
  const unit = suffix.toLowerCase();
  if (amount === undefined || !Object.hasOwn(units, unit)) return undefined;
  // Rounded, because 0.29 * 1e6 is 289,999.99…. A larger remainder means a fraction of a unit: 1.5 bytes, 0.5ms.
  const exact = Number(amount) * units[unit]!;
  const whole = Math.round(exact);
  return Number.isSafeInteger(whole) && Math.abs(exact - whole) < 1e-6 ? whole : undefined;
};

/** Milliseconds of `500ms`, `1.5h`, `10s`; `0` needs no unit. */
export const parseDuration = (text: string): number | undefined =>
  text === "0" ? 0 : parseAmount(text, DURATION_UNITS);

/** Bytes; KB and KiB are both 1,024, as in the limits. */
export const parseSize = (text: string): number | undefined => parseAmount(text, SIZE_UNITS);

/** `1`, `1.5`, `0.25`. */
export const readNumber = (text: string): Reading<number> =>
  /^\d{1,9}(\.\d{1,6})?$/.test(text) ? good(Number(text)) : bad(`needs a number such as 1.5, not "${text}"`);

/** `40`, `2M`, `1.5k`: decimal multipliers. */
export const parseCount = (text: string): number | undefined => parseAmount(text, COUNT_UNITS);

export const readDuration = (text: string): Reading<number> => {
  const ms = parseDuration(text);
  if (ms === undefined) return bad(`needs a duration such as 500ms, 10s, 5m, 2h or 1d, not "${text}"`);
  return ms > DURATION_MAX_MS
    ? bad(`may be at most ${formatDuration(DURATION_MAX_MS)}, not ${text}`)
    : good(ms);
};

export const readSize = (text: string): Reading<number> => {
  const bytes = parseSize(text);
  return bytes === undefined ? bad(`needs a size such as 512, 64KB or 1MB, not "${text}"`) : good(bytes);
};

const SIZE_NAMES = ["GB", "MB", "KB"] as const;

/** The largest unit that writes it exactly: `1GB`, `1536MB`, `1000 bytes`. */
export const formatSize = (bytes: number): string => {
  const unit = SIZE_NAMES.find((name) => bytes > 0 && bytes % SIZE_UNITS[name.toLowerCase()]! === 0);
  return unit === undefined ? `${bytes} bytes` : `${bytes / SIZE_UNITS[unit.toLowerCase()]!}${unit}`;
};

export interface Restarts {
  readonly max: number;
  readonly period_ms: number;
}

/** `3/60s`: at most 3 restarts in 60 seconds. */
export const readRestarts = (text: string): Reading<Restarts> => {
  const [count, period, ...rest] = text.split("/");
  const max = parseCount(count!);
  const read = readDuration(period ?? "");
  if (max === undefined || !read.ok || read.value === 0 || rest.length > 0)
    return bad(`needs a number and a period, as in 3/60s, not "${text}"`);
  return max > RESTARTS_MAX
    ? bad(`may be at most ${RESTARTS_MAX} restarts, not ${count}`)
    : good({ max, period_ms: read.value });
};

export interface Backoff {
  readonly min_ms: number;
  readonly max_ms: number;
}

/** `1s..60s`: the first delay and the longest. `5s` is a constant delay. */
export const readBackoff = (text: string): Reading<Backoff> => {
  const [first, longest = first, ...rest] = text.split("..");
  const [min, max] = [readDuration(first!), readDuration(longest!)];
  if (!min.ok || !max.ok || rest.length > 0) return bad(`needs two durations, as in 1s..60s, not "${text}"`);
  return min.value > max.value
    ? bad(`begins above its end: ${text}`)
    : good({ min_ms: min.value, max_ms: max.value });
};

export interface BudgetReading {
  usd?: number;
  tokens?: number;
  turns?: number;
  wall_ms?: number;
  restarts?: number;
  output_bytes?: number;
}

/** How each part of a budget is read, and its field in the spec (worker.ts, Budget). */
const BUDGET_PARTS: Readonly<
  Record<
    string,
    readonly [field: keyof BudgetReading, parse: (text: string) => number | undefined, max: number]
  >
> = {
  usd: [
    "usd",
    (text) => (/^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined),
    Number.POSITIVE_INFINITY,
  ],
  tokens: ["tokens", parseCount, Number.POSITIVE_INFINITY],
  turns: ["turns", parseCount, Number.POSITIVE_INFINITY],
  wall: ["wall_ms", parseDuration, DURATION_MAX_MS],
  restarts: ["restarts", parseCount, Number.POSITIVE_INFINITY],
  output: ["output_bytes", parseSize, Number.POSITIVE_INFINITY],
};

/** `usd=5,tokens=2M,turns=40,wall=1h,restarts=10,output=1GB`: any of these parts, each at most once. */
export const readBudget = (text: string): Reading<BudgetReading> => {
  const budget: BudgetReading = {};
  for (const part of text.split(",")) {
    const [name = "", amount = ""] = part.split(/=(.*)/s, 2);
    if (!Object.hasOwn(BUDGET_PARTS, name))
      return bad(`knows usd, tokens, turns, wall, restarts and output, not "${name}"`);
    const [field, parse, max] = BUDGET_PARTS[name]!;
    const value = parse(amount);
    if (budget[field] !== undefined) return bad(`has ${name} twice`);
    if (value === undefined || value <= 0)
      return bad(`needs more than 0 for ${name}, as in usd=5,tokens=2M,turns=40,wall=1h, not "${amount}"`);
    if (value > max) return bad(`may have at most ${formatDuration(max)} for ${name}, not ${amount}`);
    budget[field] = value;
  }
  return good(budget);
};

/** Writes milliseconds in the shortest exact way: `90s` is `1m30s`, `1500` is `1.5s`. A fraction of a millisecond is dropped. */
export const formatDuration = (ms: number): string => {
  const whole = Math.max(0, Math.trunc(ms));
  if (whole < 1_000) return `${whole}ms`;
  const parts: string[] = [];
  let rest = whole;
  for (const unit of ["d", "h", "m"] as const) {
    const count = Math.floor(rest / DURATION_UNITS[unit]!);
    rest -= count * DURATION_UNITS[unit]!;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  if (rest > 0) parts.push(`${rest / 1_000}s`);
  return parts.join("");
};
