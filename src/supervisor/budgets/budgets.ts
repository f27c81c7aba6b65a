/**
 * The bounds of budgets, and the sums spent by a worker or by a whole subtree. Pure. An increment is a report of an agent or
 * an observation: a turn's usage, usage so far, a restart, a batch of output, a second of running. It counts once it is on
 * record, so a bound is passed by at most one increment before all workers in the budget are paused.
 */
import type { RecordPayloads, Usage } from "../../protocol/records.ts";
import type { Budget } from "../../protocol/worker.ts";

export type BudgetField = keyof Budget;
export type SpentAmounts = { readonly [field in keyof Budget]-?: number };

export const NOTHING_SPENT: SpentAmounts = {
  turns: 0,
  tokens: 0,
  usd: 0,
  wall_ms: 0,
  restarts: 0,
  output_bytes: 0,
};

type BudgetLimit = Extract<
  RecordPayloads["worker_limit_reached"]["limit"],
  "turns" | "tokens" | "usd" | "wall" | "restarts" | "output_bytes"
>;

export interface Breach {
  readonly limit: BudgetLimit;
  readonly value: number;
  readonly bound: number;
}

/** In the order in which breaches are reported. */
const LIMITS: readonly (readonly [field: keyof Budget, limit: BudgetLimit])[] = [
  ["turns", "turns"],
  ["tokens", "tokens"],
  ["usd", "usd"],
  ["wall_ms", "wall"],
  ["restarts", "restarts"],
  ["output_bytes", "output_bytes"],
];

export const hasLimits = (budget: Budget | undefined): budget is Budget =>
  budget !== undefined && !isEmpty(budget) && LIMITS.some(([field]) => budget[field] !== undefined);

/** Most budgets are empty, and every request about a worker asks for its budget. */
const isEmpty = (budget: Budget): boolean => {
  for (const _ in budget) return false;
  return true;
};

/** The estimate counts for a turn without a reported cost. A turn with neither counts no dollars. */
export const ofUsage = (turns: number, usage: Usage): Pick<SpentAmounts, "turns" | "tokens" | "usd"> => ({
  turns,
  tokens: usage.input_tokens + usage.output_tokens,
  usd: exact((usage.cost_usd ?? 0) + (usage.estimated_usd ?? 0)),
});

/** Sums of binary fractions drift; a billionth of a dollar is finer than any price. */
const exact = (value: number): number => Math.round(value * 1e9) / 1e9;

const combined = (one: (field: keyof SpentAmounts) => number): SpentAmounts => ({
  turns: one("turns"),
  tokens: one("tokens"),
  usd: exact(one("usd")),
  wall_ms: one("wall_ms"),
  restarts: one("restarts"),
  output_bytes: one("output_bytes"),
});

/** The sum that a worker has spent. It never shrinks, whatever is reported later. */
export const grown = (before: SpentAmounts, now: Partial<SpentAmounts>): SpentAmounts =>
  combined((field) => Math.max(before[field], now[field] ?? 0));

/** Usage of turns that did not complete. */
export interface UnfinishedUsage extends Pick<SpentAmounts, "tokens" | "usd"> {
  /** Some of the dollars are an estimate. */
  readonly estimated: boolean;
}

export const NOTHING_UNFINISHED: UnfinishedUsage = { tokens: 0, usd: 0, estimated: false };

export const ofUnfinished = (usage: Usage | undefined): UnfinishedUsage => {
  if (usage === undefined) return NOTHING_UNFINISHED;
  const { tokens, usd } = ofUsage(0, usage);
  return { tokens, usd, estimated: usage.estimated_usd !== undefined };
};

export const added = (a: UnfinishedUsage, b: UnfinishedUsage): UnfinishedUsage => ({
  tokens: a.tokens + b.tokens,
  usd: exact(a.usd + b.usd),
  estimated: a.estimated || b.estimated,
});

/** The total: completed usage, and what uncompleted turns reported. */
export const withUnfinished = (settled: SpentAmounts, { tokens, usd }: UnfinishedUsage): SpentAmounts => ({
  ...settled,
  tokens: settled.tokens + tokens,
  usd: exact(settled.usd + usd),
});

/** The new sum of a subtree after one worker's sum changed from `before` to `after`. */
export const moved = (sum: SpentAmounts, before: SpentAmounts, after: SpentAmounts): SpentAmounts =>
  combined((field) => sum[field] + after[field] - before[field]);

/** `wanted`: the number of turns about to begin. A budget whose last turn is used has none left for them. */
export const breachOf = (budget: Budget, spent: SpentAmounts, wanted = 0): Breach | undefined => {
  for (const [field, limit] of LIMITS) {
    const bound = budget[field];
    const more = field === "turns" ? wanted : 0;
    if (bound !== undefined && spent[field] + more > bound) return { limit, value: spent[field], bound };
  }
  return undefined;
};

/** A bound that others have spent, as a breach of it. */
export const breachAt = (field: BudgetField, budget: Budget, spent: SpentAmounts): Breach | undefined => {
  const [, limit] = LIMITS.find(([one]) => one === field) ?? [];
  const bound = budget[field];
  if (limit === undefined || bound === undefined) return undefined;
  return { limit, value: Math.max(spent[field], bound), bound };
};

export const fieldOf = ({ limit }: Breach): BudgetField => LIMITS.find(([, one]) => one === limit)![0];

/** The bounds in force: the budget's own, and what was granted beyond it. */
export const boundsOf = (budget: Budget, granted: Budget): Budget => {
  const bounds: Budget = {};
  for (const [field] of LIMITS) {
    const own = budget[field];
    if (own !== undefined) bounds[field] = Math.max(own, granted[field] ?? 0);
  }
  return bounds;
};

/** After the answer `continue`, each passed bound becomes the next multiple of the budget that is not passed. */
export const raised = (budget: Budget, granted: Budget, spent: SpentAmounts, wanted = 0): Budget => {
  const bounds = boundsOf(budget, granted);
  for (const [field] of LIMITS) {
    const [own, bound] = [budget[field], bounds[field]];
    const more = field === "turns" ? wanted : 0;
    if (own === undefined || bound === undefined || spent[field] + more <= bound) continue;
    bounds[field] = exact(own * Math.ceil(spent[field] / own + (spent[field] % own === 0 ? 1 : 0)));
  }
  return bounds;
};
