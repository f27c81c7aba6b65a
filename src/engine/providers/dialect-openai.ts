/** OpenAI's Chat Completions, by the AI SDK. Loaded at the first request to a provider of this dialect. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { OpenDialect } from "./dialect.ts";

export const open: OpenDialect = ({ provider, model, key, fetch }) =>
  createOpenAICompatible({
    name: "openai",
    baseURL: provider.base_url,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: provider.structured_output,
    fetch,
    transformRequestBody: provider.name === "openai" ? renamed : undefined,
  })(model);

/** OpenAI's own newer models refuse the old name of the bound; other servers know only that one. */
const renamed = ({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> =>
  max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
