/** The cost of a turn of Claude Code, from its `result`. */
import { asCount, asName, asObject, type JsonObject } from "../../../base/json.ts";
import type { ModelUsage, Usage } from "../../../protocol/records.ts";
import { dollars } from "../../../protocol/usage.ts";
import { addUsage, asDollars, boundedModels, grownBy, NO_USAGE } from "../../decoding/usage.ts";

/** The usage in one `result`. */
export interface ClaudeUsage {
  readonly usage: Usage;
  readonly models: readonly ModelUsage[];
}

/** The running totals that were already counted; no tokens if none were reported. */
export interface CountedUsage {
  readonly usd: number;
  readonly tokens?: Usage | undefined;
}

/**
 * Newer versions report the usage since the last result by model, including sub-agents. Older ones report
 * running totals by model, of which a part was counted before, and the turn's tokens without failed tries:
 * all of that is attributed to the main `model`. Without either, the tokens of the turn count.
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

/** The totals that are counted once this result is. */
export const countedAfter = (result: JsonObject, before: CountedUsage): CountedUsage => ({
  usd: asDollars(result.total_cost_usd) ?? before.usd,
  tokens: totalsOf(result) ?? before.tokens,
});

/** The running totals; undefined if the result has none. */
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
