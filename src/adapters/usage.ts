/**
 * What a turn cost, as the agent reports it. Token counts keep their CLI's meaning: codex counts cached tokens
 * into `input_tokens`, Claude Code counts them beside it (`protocol/usage.ts` has them in one meaning).
 */
import { MODELS_PER_TURN_MAX } from "../protocol/limits.ts";
import type { ModelUsage, Usage } from "../protocol/records.ts";
import { dollars } from "../protocol/usage.ts";
import { asCount, asName, asNumber, asObject, type JsonObject } from "./json.ts";

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
};

/** Of what agents report: an estimate is made when a turn goes into the log, after this. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  cost_usd:
    a.cost_usd === null && b.cost_usd === null ? null : dollars((a.cost_usd ?? 0) + (b.cost_usd ?? 0)),
});

/** More than any run costs; a larger number is not a price. */
const USD_MAX = 1e6;

export const asDollars = (value: unknown): number | undefined => {
  const usd = asNumber(value);
  return usd !== undefined && usd >= 0 && usd <= USD_MAX ? usd : undefined;
};

/** Of one `result` of Claude Code. */
export interface ClaudeUsage {
  readonly usage: Usage;
  readonly models: readonly ModelUsage[];
}

/**
 * Newer versions say for each model what was used since the last result, sub-agents included; older ones give the turn's own
 * tokens and a running total of dollars, of which `spent_usd` was counted before: all of it is taken for the main `model`'s.
 */
export const claudeUsage = (result: JsonObject, spent_usd: number, model: string | null): ClaudeUsage => {
  const since = asObject(result.model_usage_since_last_result);
  if (since !== undefined) {
    const models = bounded(Object.entries(since).map(([name, one]) => modelOf(name, asObject(one) ?? {})));
    return { usage: models.reduce<Usage>(addUsage, { ...NO_USAGE, cost_usd: 0 }), models };
  }
  const told = asObject(result.usage) ?? {};
  const total = asDollars(result.total_cost_usd);
  const usage = {
    input_tokens: asCount(told.input_tokens),
    output_tokens: asCount(told.output_tokens),
    cached_tokens: asCount(told.cache_read_input_tokens),
    reasoning_tokens: asCount(asObject(told.output_tokens_details)?.thinking_tokens),
    cost_usd: total === undefined ? null : dollars(Math.max(0, total - spent_usd)),
  };
  const cache_write_tokens = asCount(told.cache_creation_input_tokens);
  return { usage, models: [{ model, ...usage, cache_write_tokens }] };
};

const modelOf = (name: string, one: JsonObject): ModelUsage => ({
  model: asName(name),
  input_tokens: asCount(one.inputTokens),
  output_tokens: asCount(one.outputTokens),
  cached_tokens: asCount(one.cacheReadInputTokens),
  cache_write_tokens: asCount(one.cacheCreationInputTokens),
  reasoning_tokens: asCount(one.thinkingTokens),
  cost_usd: asDollars(one.costUSD) ?? 0,
});

/** The one with the most output first; those beyond the bound, and all without a name, as one without a name. */
const bounded = (models: readonly ModelUsage[]): readonly ModelUsage[] => {
  const sorted = [...models].sort((a, b) => b.output_tokens - a.output_tokens);
  const named = sorted.filter(({ model }) => model !== null);
  const kept = named.slice(0, MODELS_PER_TURN_MAX - 1);
  const rest = [...named.slice(MODELS_PER_TURN_MAX - 1), ...sorted.filter(({ model }) => model === null)];
  if (rest.length === 0) return kept;
  const cache_write_tokens = rest.reduce((sum, one) => sum + one.cache_write_tokens, 0);
  return [...kept, { model: null, ...rest.reduce<Usage>(addUsage, NO_USAGE), cache_write_tokens }];
};

/** Usage of one `turn.completed` of codex, which tells no cost. */
export const codexUsage = (usage: JsonObject): Usage => ({
  input_tokens: asCount(usage.input_tokens),
  output_tokens: asCount(usage.output_tokens),
  cached_tokens: asCount(usage.cached_input_tokens),
  reasoning_tokens: asCount(usage.reasoning_output_tokens),
  cost_usd: null,
});
