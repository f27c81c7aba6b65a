/**
 * Bounds of spending, and the sums that were spent, by a worker or by all of a subtree together. Pure. An increment is what an agent reports
 * or what is seen of it: a turn's usage, what it has used so far, a restart, a batch of output, a second of running. It is
 * counted when it is on record, so a bound is passed by one increment at most before everybody is paused.
 */
import type { RecordPayloads, Usage } from "../../protocol/records.ts";
import type { Budget } from "../../protocol/worker.ts";

export type Spent = { readonly [field in keyof Budget]-?: number };

export const NOTHING_SPENT: Spent = {
  turns: 0,
  tokens: 0,
  usd: 0,
  wall_ms: 0,
  restarts: 0,
  output_bytes: 0,
};

type Limit = Extract<
  RecordPayloads["worker_limit_reached"]["limit"],
  "turns" | "tokens" | "usd" | "wall" | "restarts" | "output_bytes"
>;

export interface Breach {
  readonly limit: Limit;
  readonly value: number;
  readonly bound: number;
}

/** In the order in which a breach is told. */
const LIMITS: readonly (readonly [field: keyof Budget, limit: Limit])[] = [
  ["turns", "turns"],
  ["tokens", "tokens"],
  ["usd", "usd"],
  ["wall_ms", "wall"],
  ["restarts", "restarts"],
  ["output_bytes", "output_bytes"],
];

export const hasLimits = (budget: Budget | undefined): budget is Budget =>
  budget !== undefined && LIMITS.some(([field]) => budget[field] !== undefined);

/** The estimate counts for a turn whose cost the agent does not report; a turn with neither spends no dollars that anybody could count. */
export const ofUsage = (turns: number, usage: Usage): Pick<Spent, "turns" | "tokens" | "usd"> => ({
  turns,
  tokens: usage.input_tokens + usage.output_tokens,
  usd: exact((usage.cost_usd ?? 0) + (usage.estimated_usd ?? 0)),
});

/** Sums of binary fractions drift; a billionth of a dollar is finer than any price. */
const exact = (value: number): number => Math.round(value * 1e9) / 1e9;

const combined = (one: (field: keyof Spent) => number): Spent => ({
  turns: one("turns"),
  tokens: one("tokens"),
  usd: exact(one("usd")),
  wall_ms: one("wall_ms"),
  restarts: one("restarts"),
  output_bytes: one("output_bytes"),
});

/** The sum that a worker has spent by now. Nothing that was spent is ever taken back, whatever is reported later. */
export const grown = (before: Spent, now: Partial<Spent>): Spent =>
  combined((field) => Math.max(before[field], now[field] ?? 0));

/** Usage of turns that were not completed. */
export interface Unfinished extends Pick<Spent, "tokens" | "usd"> {
  /** Some of its dollars are an estimate. */
  readonly estimated: boolean;
}

export const NOTHING_UNFINISHED: Unfinished = { tokens: 0, usd: 0, estimated: false };

export const ofUnfinished = (usage: Usage | undefined): Unfinished => {
  if (usage === undefined) return NOTHING_UNFINISHED;
  const { tokens, usd } = ofUsage(0, usage);
  return { tokens, usd, estimated: usage.estimated_usd !== undefined };
};

export const added = (a: Unfinished, b: Unfinished): Unfinished => ({
  tokens: a.tokens + b.tokens,
  usd: exact(a.usd + b.usd),
  estimated: a.estimated || b.estimated,
});

/** All that was spent: what is settled, and what turns had told that were not completed. */
export const withUnfinished = (settled: Spent, { tokens, usd }: Unfinished): Spent => ({
  ...settled,
  tokens: settled.tokens + tokens,
  usd: exact(settled.usd + usd),
});

/** The sum of a subtree, of which one worker has spent `after` and had spent `before`. */
export const moved = (sum: Spent, before: Spent, after: Spent): Spent =>
  combined((field) => sum[field] + after[field] - before[field]);

/** `wanted`: so many turns more are to begin. A budget that is used up to its last turn has none left for them. */
export const breachOf = (budget: Budget, spent: Spent, wanted = 0): Breach | undefined => {
  for (const [field, limit] of LIMITS) {
    const bound = budget[field];
    const more = field === "turns" ? wanted : 0;
    if (bound !== undefined && spent[field] + more > bound) return { limit, value: spent[field], bound };
  }
  return undefined;
};

/** The bounds that hold: the budget's own, and what was granted beyond it. */
export const boundsOf = (budget: Budget, granted: Budget): Budget => {
  const bounds: Budget = {};
  for (const [field] of LIMITS) {
    const own = budget[field];
    if (own !== undefined) bounds[field] = Math.max(own, granted[field] ?? 0);
  }
  return bounds;
};

/** Somebody says go on: each bound that is passed becomes the next multiple of the budget that is not. */
export const raised = (budget: Budget, granted: Budget, spent: Spent, wanted = 0): Budget => {
  const bounds = boundsOf(budget, granted);
  for (const [field] of LIMITS) {
    const [own, bound] = [budget[field], bounds[field]];
    const more = field === "turns" ? wanted : 0;
    if (own === undefined || bound === undefined || spent[field] + more <= bound) continue;
    bounds[field] = exact(own * Math.ceil(spent[field] / own + (spent[field] % own === 0 ? 1 : 0)));
  }
  return bounds;
};
