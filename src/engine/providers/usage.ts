/** The tokens of one step in the one meaning of all kinds. Pure. */
import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { asCount } from "../../base/json.ts";
import type { TokenCounts } from "../../protocol/token-counts.ts";

export const tokensOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenCounts => {
  const cached_tokens = asCount(inputTokens.cacheRead);
  const cache_write_tokens = asCount(inputTokens.cacheWrite);
  const total = asCount(inputTokens.total);
  return {
    input_tokens: asCount(inputTokens.noCache ?? total - cached_tokens - cache_write_tokens),
    cached_tokens,
    cache_write_tokens,
    output_tokens: asCount(outputTokens.total),
    reasoning_tokens: asCount(outputTokens.reasoning),
  };
};
