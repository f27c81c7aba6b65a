/**
 * What a turn cost, as the agent reports it. Token counts keep their provider's meaning: codex counts cached tokens
 * into `input_tokens`, Claude Code counts them beside it.
 */
import type { Usage } from "../protocol/records.ts";
import { asCount, asNumber, asObject, type JsonObject } from "./json.ts";

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: null,
};

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

/** Sums of binary fractions drift; a billionth of a dollar is finer than any price. */
export const dollars = (usd: number): number => Math.round(usd * 1e9) / 1e9;

export const asDollars = (value: unknown): number | undefined => {
  const usd = asNumber(value);
  return usd !== undefined && usd >= 0 && usd <= USD_MAX ? usd : undefined;
};

/**
 * Usage of one `result` of Claude Code. Newer versions say what was used since the last result, sub-agents included;
 * older ones give the turn's own tokens and a running total of dollars, of which `spent_usd` was counted before.
 */
export const claudeUsage = (result: JsonObject, spent_usd: number): Usage => {
  const since = asObject(result.model_usage_since_last_result);
  if (since !== undefined) {
    return Object.values(since).reduce<Usage>(
      (sum, model) => addUsage(sum, modelUsage(asObject(model) ?? {})),
      {
        ...NO_USAGE,
        cost_usd: 0,
      },
    );
  }
  const usage = asObject(result.usage) ?? {};
  const total = asDollars(result.total_cost_usd);
  return {
    input_tokens: asCount(usage.input_tokens),
    output_tokens: asCount(usage.output_tokens),
    cached_tokens: asCount(usage.cache_read_input_tokens),
    reasoning_tokens: asCount(asObject(usage.output_tokens_details)?.thinking_tokens),
    cost_usd: total === undefined ? null : dollars(Math.max(0, total - spent_usd)),
  };
};

const modelUsage = (model: JsonObject): Usage => ({
  input_tokens: asCount(model.inputTokens),
  output_tokens: asCount(model.outputTokens),
  cached_tokens: asCount(model.cacheReadInputTokens),
  reasoning_tokens: asCount(model.thinkingTokens),
  cost_usd: asDollars(model.costUSD) ?? 0,
});

/** Of Gemini CLI's `result.stats`, which counts cached tokens into `input_tokens` and tells no cost. */
export const geminiUsage = (stats: JsonObject): Usage => ({
  ...NO_USAGE,
  input_tokens: asCount(stats.input_tokens),
  output_tokens: asCount(stats.output_tokens),
  cached_tokens: asCount(stats.cached),
});

/** Of one step of OpenCode, which counts cached tokens beside `input`. */
export const opencodeUsage = (step: JsonObject): Usage => {
  const tokens = asObject(step.tokens) ?? {};
  return {
    input_tokens: asCount(tokens.input),
    output_tokens: asCount(tokens.output),
    cached_tokens: asCount(asObject(tokens.cache)?.read),
    reasoning_tokens: asCount(tokens.reasoning),
    cost_usd: asDollars(step.cost) ?? null,
  };
};

/** Usage of one `turn.completed` of codex, which tells no cost. */
export const codexUsage = (usage: JsonObject): Usage => ({
  input_tokens: asCount(usage.input_tokens),
  output_tokens: asCount(usage.output_tokens),
  cached_tokens: asCount(usage.cached_input_tokens),
  reasoning_tokens: asCount(usage.reasoning_output_tokens),
  cost_usd: null,
});

/**
 * Tokens of one turn as an ACP agent's answer to its prompt tells them: in `usage`, which the official schema does not have
 * yet, or as gemini does in `_meta`. `counted`: something is told.
 */
export const acpUsage = (result: JsonObject | undefined): { tokens: Usage; counted: boolean } => {
  const usage = asObject(result?.usage);
  const quota = asObject(asObject(asObject(result?._meta)?.quota)?.token_count);
  const tokens: Usage =
    usage === undefined
      ? {
          ...NO_USAGE,
          input_tokens: asCount(quota?.input_tokens),
          output_tokens: asCount(quota?.output_tokens),
        }
      : {
          ...NO_USAGE,
          input_tokens: asCount(usage.inputTokens),
          output_tokens: asCount(usage.outputTokens),
          cached_tokens: asCount(usage.cachedReadTokens),
          reasoning_tokens: asCount(usage.thoughtTokens),
        };
  return { tokens, counted: tokens.input_tokens + tokens.output_tokens > 0 };
};
