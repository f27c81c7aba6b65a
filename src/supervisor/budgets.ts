/** Whether a worker has spent what it was given. Pure; asked after each completed turn. */
import type { Usage } from "../protocol/records.ts";
import type { Budget } from "../protocol/worker.ts";

export interface Spent {
  readonly turns: number;
  readonly usage: Usage;
}

export interface Breach {
  readonly limit: "turns" | "tokens" | "usd";
  readonly value: number;
  readonly bound: number;
}

export const breachOf = (budget: Budget, spent: Spent): Breach | undefined => {
  const tokens = spent.usage.input_tokens + spent.usage.output_tokens;
  const usd = spent.usage.cost_usd ?? 0;
  if (budget.turns !== undefined && spent.turns > budget.turns) return { limit: "turns", value: spent.turns, bound: budget.turns };
  if (budget.tokens !== undefined && tokens > budget.tokens) return { limit: "tokens", value: tokens, bound: budget.tokens };
  if (budget.usd !== undefined && usd > budget.usd) return { limit: "usd", value: usd, bound: budget.usd };
  return undefined;
};
