/**
 * The usage of a turn, in one meaning for all kinds. Pure.
 *
 * CLIs count differently. codex and Gemini CLI count tokens that were read from the provider's cache inside `input_tokens`
 * (as OpenAI's and Google's APIs do); Claude Code counts them beside it (as Anthropic's does). A price list that charged
 * both columns of codex would charge a cached token twice. So `Usage` keeps the CLI's own numbers. Code that sums over kinds
 * or applies prices takes `ModelUsage`, where a token is in exactly one of `input_tokens`, `cached_tokens`,
 * `cache_write_tokens` and `output_tokens`. Reasoning is a part of `output_tokens`, because all CLIs that we read count it
 * so and providers charge it so.
 */
import type { ModelUsage, RecordPayloads, Usage } from "./records.ts";

/** Kinds whose early versions counted cached tokens inside `input_tokens`. The list is closed: turns are now recorded with their models. */
const ONCE_CACHED_INSIDE: ReadonlySet<string> = new Set(["codex", "gemini_cli"]);

/** A turn that reports only a sum counts for a single model. `isCachedInside`: its CLI counts cached tokens inside `input_tokens`. */
export const modelUsage = (
  isCachedInside: boolean,
  model: string | null,
  { input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost_usd }: Usage,
): ModelUsage => ({
  model,
  input_tokens: isCachedInside ? Math.max(0, input_tokens - cached_tokens) : input_tokens,
  cached_tokens,
  cache_write_tokens: 0,
  output_tokens,
  reasoning_tokens,
  cost_usd,
});

/** The models of a turn. An early record names none, so its usage counts for one. */
export const modelsOf = (
  kind: string,
  { models, usage }: Pick<RecordPayloads["turn_completed"], "models" | "usage">,
): readonly ModelUsage[] =>
  models === undefined || models.length === 0
    ? [modelUsage(ONCE_CACHED_INSIDE.has(kind), null, usage)]
    : models;

const tokensOf = (one: ModelUsage): number =>
  one.input_tokens + one.cached_tokens + one.cache_write_tokens + one.output_tokens;

/** The model used tokens whose cost is neither reported nor estimated. */
export const isUnpriced = (one: ModelUsage): boolean =>
  one.cost_usd === null && one.estimated_usd === undefined && tokensOf(one) > 0;

/** Sums of binary fractions drift; a billionth of a dollar is finer than any price. */
export const dollars = (usd: number): number => Math.round(usd * 1e9) / 1e9;

/** The sum of all estimates; undefined if no model has one. */
export const estimateOf = (models: readonly ModelUsage[]): number | undefined => {
  const estimates = models.flatMap(({ estimated_usd }) => estimated_usd ?? []);
  return estimates.length === 0 ? undefined : dollars(estimates.reduce((sum, usd) => sum + usd, 0));
};
