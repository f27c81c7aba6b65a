/**
 * Sums of the usage that agents report. Token counts keep the meaning of their CLI (`protocol/usage.ts`
 * unifies it).
 */

import { asNumber } from "../../base/json.ts";
import { MODELS_PER_TURN_MAX } from "../../base/limits.ts";
import type { ModelUsage, Usage } from "../../protocol/records.ts";
import { dollars } from "../../protocol/usage.ts";

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
};

/** Adds reported numbers only. Estimates are made later, when a turn goes into the log. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  cost_usd:
    a.cost_usd === null && b.cost_usd === null ? null : dollars((a.cost_usd ?? 0) + (b.cost_usd ?? 0)),
});

/** The tokens by which a running total has grown; 0 if it shrank. Costs are not compared. */
export const grownBy = (now: Usage, before: Usage): Usage => ({
  input_tokens: Math.max(0, now.input_tokens - before.input_tokens),
  output_tokens: Math.max(0, now.output_tokens - before.output_tokens),
  cached_tokens: Math.max(0, now.cached_tokens - before.cached_tokens),
  reasoning_tokens: Math.max(0, now.reasoning_tokens - before.reasoning_tokens),
  cost_usd: null,
});

/** More than any run costs: a larger number is not a price. */
const USD_MAX = 1e6;

export const asDollars = (value: unknown): number | undefined => {
  const usd = asNumber(value);
  return usd !== undefined && usd >= 0 && usd <= USD_MAX ? usd : undefined;
};

/**
 * The models with the most output first. Those beyond the bound, and all without a name, are summed into one
 * without a name.
 */
export const boundedModels = (models: readonly ModelUsage[]): readonly ModelUsage[] => {
  const sorted = [...models].sort((a, b) => b.output_tokens - a.output_tokens);
  const named = sorted.filter(({ model }) => model !== null);
  const kept = named.slice(0, MODELS_PER_TURN_MAX - 1);
  const rest = [...named.slice(MODELS_PER_TURN_MAX - 1), ...sorted.filter(({ model }) => model === null)];
  if (rest.length === 0) return kept;
  const cache_write_tokens = rest.reduce((sum, one) => sum + one.cache_write_tokens, 0);
  return [...kept, { model: null, ...rest.reduce<Usage>(addUsage, NO_USAGE), cache_write_tokens }];
};
