/** A dialect: how a provider is spoken to. Each is a module of its own, because its library takes memory and time to load. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Provider } from "./provider.ts";

export interface DialectTarget {
  readonly provider: Provider;
  /** As the provider names it. */
  readonly model: string;
  /** Undefined: none is sent. */
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
}

export type OpenDialect = (target: DialectTarget) => LanguageModelV4;

export const loadDialect = async (dialect: Provider["dialect"]): Promise<OpenDialect> =>
  dialect === "anthropic"
    ? (await import("./dialect-anthropic.ts")).open
    : (await import("./dialect-openai.ts")).open;
