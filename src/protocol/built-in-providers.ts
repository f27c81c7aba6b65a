/** The providers of models that need no configuration. The client loads this file, so it has no schema. */
import type { ProviderConfiguration } from "./providers.ts";

/** As in the CLIs: the base URL of Anthropic is without the version, that of OpenAI has it. */
const withVersion = (url: string): string => (/\/v\d+\/*$/.test(url) ? url : `${url.replace(/\/+$/, "")}/v1`);

/** The built-in providers, at the addresses that their variables give. */
export const builtInProviders = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, ProviderConfiguration>> => ({
  anthropic: {
    dialect: "anthropic",
    base_url: withVersion(env.ANTHROPIC_BASE_URL || "https://api.anthropic.com"),
    key: "@env:ANTHROPIC_API_KEY",
    structured_output: true,
  },
  openai: {
    dialect: "openai",
    base_url: env.OPENAI_BASE_URL || "https://api.openai.com/v1",
    key: "@env:OPENAI_API_KEY",
    structured_output: true,
  },
});
