/** The cost of a turn of Claude Code, as its `result` tells it. */
import { asCount, asName, asObject, type JsonObject } from "../../../base/json.ts";
import type { ModelUsage, Usage } from "../../../protocol/records.ts";
import { dollars } from "../../../protocol/usage.ts";
import { addUsage, asDollars, boundedModels, grownBy, NO_USAGE } from "../../decoding/usage.ts";

/** The usage of one `result` of Claude Code. */
export interface ClaudeUsage {
  readonly usage: Usage;
  readonly models: readonly ModelUsage[];
}

/** Running totals of a run of Claude Code that were counted before; tokens are absent where none were told. */
export interface CountedUsage {
  readonly usd: number;
  readonly tokens?: Usage | undefined;
}

/**
 * Newer versions say for each model what was used since the last result, sub-agents included. Older ones give running totals
 * by model, of which some was counted before, and the tokens of the turn, in which a try that failed is missing: all of it is
 * taken for the main `model`'s. A token that is neither is the turn's own.
 */
export const claudeUsage = (result: JsonObject, counted: CountedUsage, model: string | null): ClaudeUsage => {
  const since = asObject(result.model_usage_since_last_result);
  if (since !== undefined) {
    const models = boundedModels(
      Object.entries(since).map(([name, one]) => modelOf(name, asObject(one) ?? {})),
    );
    return { usage: models.reduce<Usage>(addUsage, { ...NO_USAGE, cost_usd: 0 }), models };
  }
  const usage = usageOfTurn(result, counted);
  const cache_write_tokens = asCount(asObject(result.usage)?.cache_creation_input_tokens);
  return { usage, models: [{ model, ...usage, cache_write_tokens }] };
};

const usageOfTurn = (result: JsonObject, counted: CountedUsage): Usage => {
  const told = asObject(result.usage) ?? {};
  const usd = asDollars(result.total_cost_usd);
  const cost_usd = usd === undefined ? null : dollars(Math.max(0, usd - counted.usd));
  const reasoning_tokens = asCount(asObject(told.output_tokens_details)?.thinking_tokens);
  const totals = totalsOf(result);
  if (totals === undefined)
    return {
      input_tokens: asCount(told.input_tokens),
      output_tokens: asCount(told.output_tokens),
      cached_tokens: asCount(told.cache_read_input_tokens),
      reasoning_tokens,
      cost_usd,
    };
  const grown = grownBy(totals, counted.tokens ?? NO_USAGE);
  return { ...grown, reasoning_tokens: Math.max(reasoning_tokens, grown.reasoning_tokens), cost_usd };
};

/** The sums that are counted once this result is. */
export const countedAfter = (result: JsonObject, before: CountedUsage): CountedUsage => ({
  usd: asDollars(result.total_cost_usd) ?? before.usd,
  tokens: totalsOf(result) ?? before.tokens,
});

/** The running totals; undefined where the result has none. */
const totalsOf = (result: JsonObject): Usage | undefined => {
  const models = asObject(result.modelUsage);
  return models === undefined || Object.keys(models).length === 0 ? undefined : ofModels(models);
};

const ofModels = (models: JsonObject): Usage =>
  Object.entries(models).reduce<Usage>(
    (sum, [name, one]) => addUsage(sum, modelOf(name, asObject(one) ?? {})),
    NO_USAGE,
  );

const modelOf = (name: string, one: JsonObject): ModelUsage => ({
  model: asName(name),
  input_tokens: asCount(one.inputTokens),
  output_tokens: asCount(one.outputTokens),
  cached_tokens: asCount(one.cacheReadInputTokens),
  cache_write_tokens: asCount(one.cacheCreationInputTokens),
  reasoning_tokens: asCount(one.thinkingTokens),
  cost_usd: asDollars(one.costUSD) ?? 0,
});
