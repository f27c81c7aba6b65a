/** The usage of a turn of an ACP agent. */
import { asCount, asList, asName, asObject, type JsonObject } from "../../../base/json.ts";
import type { ModelUsage, Usage } from "../../../protocol/records.ts";
import { addUsage, boundedModels, NO_USAGE } from "../../decoding/usage.ts";

/** The usage of one answer to a prompt. */
export interface AcpUsage {
  readonly usage: Usage;
  /** Empty if the answer names no models. */
  readonly models: readonly ModelUsage[];
}

/**
 * From the models in `_meta.quota`, which covers all requests of the turn; else from `usage`, which is not in
 * the official schema yet and may lack some requests; else from the sum of `_meta.quota`.
 */
export const acpUsage = (result: JsonObject | undefined): AcpUsage => {
  const quota = asObject(asObject(result?._meta)?.quota);
  const models = boundedModels(
    asList(quota?.model_usage).map((one) => {
      const told = asObject(one);
      return acpCounts(asName(told?.model), asObject(told?.token_count) ?? {});
    }),
  );
  if (models.length > 0) return { usage: models.reduce<Usage>(addUsage, NO_USAGE), models };
  const whole = acpCounts(null, asObject(result?.usage) ?? asObject(quota?.token_count) ?? {});
  return { usage: addUsage(NO_USAGE, whole), models };
};

/** The usage of one request to the model, which Qwen Code sends with an empty text. */
export const chunkUsage = (update: JsonObject): Usage | undefined => {
  const told = asObject(asObject(update._meta)?.usage);
  return told === undefined ? undefined : addUsage(NO_USAGE, acpCounts(null, told));
};

/**
 * Most agents count cached tokens separately from their input. One includes them, as its `totalTokens` shows.
 */
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
