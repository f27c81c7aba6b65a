/**
 * The cost of a turn, as the agent reports it. Token counts keep their CLI's meaning: codex counts cached tokens
 * into `input_tokens`, Claude Code counts them beside it (`protocol/usage.ts` has them in one meaning).
 */

import { asCount, asList, asName, asNumber, asObject, type JsonObject } from "../../base/json.ts";
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

/** Numbers that agents report: an estimate is made when a turn goes into the log, after this. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  cost_usd:
    a.cost_usd === null && b.cost_usd === null ? null : dollars((a.cost_usd ?? 0) + (b.cost_usd ?? 0)),
});

/** Tokens that a running total has more than it had before: none where it has shrunk. It says nothing of its cost. */
export const grownBy = (now: Usage, before: Usage): Usage => ({
  input_tokens: Math.max(0, now.input_tokens - before.input_tokens),
  output_tokens: Math.max(0, now.output_tokens - before.output_tokens),
  cached_tokens: Math.max(0, now.cached_tokens - before.cached_tokens),
  reasoning_tokens: Math.max(0, now.reasoning_tokens - before.reasoning_tokens),
  cost_usd: null,
});

/** More than any run costs; a larger number is not a price. */
const USD_MAX = 1e6;

export const asDollars = (value: unknown): number | undefined => {
  const usd = asNumber(value);
  return usd !== undefined && usd >= 0 && usd <= USD_MAX ? usd : undefined;
};

/** The usage of one `result` of Claude Code. */
export interface ClaudeUsage {
  readonly usage: Usage;
  readonly models: readonly ModelUsage[];
}

/** Running totals of a run of Claude Code that were counted before; tokens are absent where none were told. */
export interface Counted {
  readonly usd: number;
  readonly tokens?: Usage | undefined;
}

/**
 * Newer versions say for each model what was used since the last result, sub-agents included. Older ones give running totals
 * by model, of which some was counted before, and the tokens of the turn, in which a try that failed is missing: all of it is
 * taken for the main `model`'s. A token that is neither is the turn's own.
 */
export const claudeUsage = (result: JsonObject, counted: Counted, model: string | null): ClaudeUsage => {
  const since = asObject(result.model_usage_since_last_result);
  if (since !== undefined) {
    const models = bounded(Object.entries(since).map(([name, one]) => modelOf(name, asObject(one) ?? {})));
    return { usage: models.reduce<Usage>(addUsage, { ...NO_USAGE, cost_usd: 0 }), models };
  }
  const usage = usageOfTurn(result, counted);
  const cache_write_tokens = asCount(asObject(result.usage)?.cache_creation_input_tokens);
  return { usage, models: [{ model, ...usage, cache_write_tokens }] };
};

const usageOfTurn = (result: JsonObject, counted: Counted): Usage => {
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
export const countedAfter = (result: JsonObject, before: Counted): Counted => ({
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

/** The usage of Gemini CLI's `result.stats`, which counts cached tokens into `input_tokens` and tells no cost. */
export const geminiUsage = (stats: JsonObject): Usage => ({
  ...NO_USAGE,
  input_tokens: asCount(stats.input_tokens),
  output_tokens: asCount(stats.output_tokens),
  cached_tokens: asCount(stats.cached),
});

/** The usage of one step of OpenCode, which counts cached tokens beside `input`. */
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

/** The usage of one sum of codex app-server, which names them otherwise. */
export const threadUsage = (sum: JsonObject): Usage => ({
  input_tokens: asCount(sum.inputTokens),
  output_tokens: asCount(sum.outputTokens),
  cached_tokens: asCount(sum.cachedInputTokens),
  reasoning_tokens: asCount(sum.reasoningOutputTokens),
  cost_usd: null,
});

/** The usage of one answer of an ACP agent to a prompt. */
export interface AcpUsage {
  readonly usage: Usage;
  /** Empty where the answer tells no models. */
  readonly models: readonly ModelUsage[];
}

/**
 * By model in `_meta.quota`, which has all requests of the turn; else in `usage`, which the official schema does not have yet
 * and in which requests beside the answer may be missing; else the sum of `_meta.quota`.
 */
export const acpUsage = (result: JsonObject | undefined): AcpUsage => {
  const quota = asObject(asObject(result?._meta)?.quota);
  const models = bounded(
    asList(quota?.model_usage).map((one) => {
      const told = asObject(one);
      return acpCounts(asName(told?.model), asObject(told?.token_count) ?? {});
    }),
  );
  if (models.length > 0) return { usage: models.reduce<Usage>(addUsage, NO_USAGE), models };
  const whole = acpCounts(null, asObject(result?.usage) ?? asObject(quota?.token_count) ?? {});
  return { usage: addUsage(NO_USAGE, whole), models };
};

/** Most agents count cached tokens beside their input; one counts them inside, as its `totalTokens` shows. */
const acpCounts = (model: string | null, told: JsonObject): ModelUsage => {
  const input = asCount(told.inputTokens) || asCount(told.input_tokens);
  const output_tokens = asCount(told.outputTokens) || asCount(told.output_tokens);
  const cached_tokens = asCount(told.cachedReadTokens) || asCount(told.cachedInputTokens);
  const isInside = asCount(told.totalTokens) === input + output_tokens;
  return {
    model,
    input_tokens: isInside ? Math.max(0, input - cached_tokens) : input,
    output_tokens,
    cached_tokens,
    cache_write_tokens: asCount(told.cachedWriteTokens) || asCount(told.cacheWriteInputTokens),
    reasoning_tokens: asCount(told.thoughtTokens) || asCount(told.reasoningOutputTokens),
    cost_usd: null,
  };
};
