/** Whether a worker has spent what it was given, summed over its incarnations. Pure; asked after each completed turn. */
import type { Usage } from "../protocol/records.ts";
import type { Budget, WorkerSpec } from "../protocol/worker.ts";

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
  if (budget.turns !== undefined && spent.turns > budget.turns)
    return { limit: "turns", value: spent.turns, bound: budget.turns };
  if (budget.tokens !== undefined && tokens > budget.tokens)
    return { limit: "tokens", value: tokens, bound: budget.tokens };
  if (budget.usd !== undefined && usd > budget.usd) return { limit: "usd", value: usd, bound: budget.usd };
  return undefined;
};

export interface TimeLeft {
  readonly limit: "timeout" | "wall";
  readonly bound: number;
  readonly left_ms: number;
}

/** The limit of time that is reached first: `timeout` bounds this incarnation, `wall` all of them. Undefined without any. */
export const timeLeft = (
  spec: Pick<WorkerSpec, "timeout_ms" | "budget">,
  ran_ms: number,
  spent_ms: number,
): TimeLeft | undefined => {
  const wall = spec.budget.wall_ms ?? 0;
  const limits: TimeLeft[] = [];
  if (spec.timeout_ms > 0)
    limits.push({ limit: "timeout", bound: spec.timeout_ms, left_ms: spec.timeout_ms - ran_ms });
  if (wall > 0) limits.push({ limit: "wall", bound: wall, left_ms: wall - spent_ms - ran_ms });
  return limits.sort((a, b) => a.left_ms - b.left_ms)[0];
};
