/** Providers of models in `config.yaml`, for kind `llm`: an address, its dialect, and where its key is; never the key itself. */
import * as z from "zod";
import { VARIABLE_NAME } from "../base/environment.ts";
import { PROVIDER_URL_MAX_CHARS, PROVIDERS_MAX } from "../base/limits.ts";

/** The two wire formats: Anthropic's Messages, and OpenAI's Chat Completions, which most other servers speak. */
const DIALECTS = ["anthropic", "openai"] as const;

const REFERENCE = /^@(?:env:(.+)|file:(\/.+))$/s;

/** `@env:NAME` or `@file:/ABSOLUTE/PATH`. */
export const SecretReference = z.string().refine((text) => {
  const [, name, path] = REFERENCE.exec(text) ?? [];
  return path !== undefined || (name !== undefined && VARIABLE_NAME.test(name));
}, "a secret is a reference, @env:NAME or @file:/PATH, and never the value itself");

const isHttp = (text: string): boolean => {
  const url = URL.parse(text);
  return (
    (url?.protocol === "http:" || url?.protocol === "https:") && url.username === "" && url.password === ""
  );
};

/** Without credentials: they would stand in logs. */
export const HttpUrl = z
  .string()
  .max(PROVIDER_URL_MAX_CHARS)
  .refine(isHttp, "it is no http or https URL without a user and a password");

export const ProviderConfiguration = z.strictObject({
  dialect: z.enum(DIALECTS),
  /** The part of the address before `/messages` or `/chat/completions`. */
  base_url: HttpUrl,
  /** Absent: no key is sent. */
  key: SecretReference.optional(),
  /** It takes a JSON Schema for the answer. Else the schema stands in the prompt. */
  structured_output: z.boolean().default(true),
});
export type ProviderConfiguration = z.infer<typeof ProviderConfiguration>;
export type ProviderDialect = ProviderConfiguration["dialect"];

/** By name: the part of a model's name before its first `/`. */
export const Providers = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, "a provider's name is in a-z, 0-9, '.', '_' and '-'"),
    ProviderConfiguration,
  )
  .refine((all) => Object.keys(all).length <= PROVIDERS_MAX, `there are at most ${PROVIDERS_MAX} providers`);
