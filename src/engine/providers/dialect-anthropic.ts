/** Anthropic's Messages, by the AI SDK. Loaded at the first request to a provider of this dialect. */
import { createAnthropic } from "@ai-sdk/anthropic";
import type { OpenDialect } from "./dialect.ts";

export const open: OpenDialect = ({ provider, model, key, fetch }) =>
  createAnthropic({
    baseURL: provider.base_url,
    // Without one the library would look for a key in the environment. A server that needs none ignores it.
    apiKey: key ?? "none",
    fetch,
  })(model);
