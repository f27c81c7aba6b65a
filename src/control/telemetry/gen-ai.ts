/**
 * The semantic conventions for generative AI, which are not stable: in one table, and given only to those who opt in. The
 * table is of semantic-conventions-genai as of October 2026; a newer version of the conventions is another table.
 */
import type { SpanAttributes } from "../../protocol/observability.ts";

export type SpanOperation = "invoke_agent" | "execute_tool" | "chat";

/** Their names, and the names of ours whose value they have; several are added up. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  "gen_ai.agent.id": ["holdfast.worker.id"],
  "gen_ai.agent.name": ["holdfast.worker.name"],
  "gen_ai.conversation.id": ["holdfast.session.id"],
  "gen_ai.tool.name": ["holdfast.tool.name"],
  "gen_ai.tool.call.id": ["holdfast.tool.call.id"],
  "gen_ai.response.model": ["holdfast.model"],
  // Theirs are with the cached tokens, ours without.
  "gen_ai.usage.input_tokens": [
    "holdfast.tokens.input",
    "holdfast.tokens.cache_read",
    "holdfast.tokens.cache_write",
  ],
  "gen_ai.usage.output_tokens": ["holdfast.tokens.output"],
  "gen_ai.usage.cache_read.input_tokens": ["holdfast.tokens.cache_read"],
  "gen_ai.usage.cache_creation.input_tokens": ["holdfast.tokens.cache_write"],
  "gen_ai.usage.reasoning.output_tokens": ["holdfast.tokens.reasoning"],
};

/** Counters, and the types of our tokens that they count. */
export const GEN_AI_TOKEN_COUNTERS: Readonly<Record<string, readonly string[]>> = {
  "gen_ai.client.inference.usage.input_tokens": ["input", "cache_read", "cache_write"],
  "gen_ai.client.inference.usage.output_tokens": ["output"],
  "gen_ai.client.inference.usage.cache_read.input_tokens": ["cache_read"],
  "gen_ai.client.inference.usage.cache_write.input_tokens": ["cache_write"],
  "gen_ai.client.inference.usage.reasoning.output_tokens": ["reasoning"],
};

/** The attributes of the conventions for a span with these of ours. `provider` is theirs, or a name of one's own. */
export const genAiAttributes = (
  operation: SpanOperation,
  provider: string,
  ours: SpanAttributes,
): SpanAttributes => {
  const theirs: Record<string, string | number | boolean> = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider,
  };
  for (const [name, [first = "", ...more]] of Object.entries(ATTRIBUTES)) {
    const value = ours[first];
    if (value === undefined) continue;
    theirs[name] =
      typeof value === "number" ? more.reduce((sum, one) => sum + Number(ours[one] ?? 0), value) : value;
  }
  return theirs;
};
