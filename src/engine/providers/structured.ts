/** An answer by a JSON Schema: in the provider's own way, or by an instruction where it has none. Pure. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { JsonValue } from "../../protocol/records.ts";
import type { Message } from "../model.ts";
import type { Provider } from "./provider.ts";

interface PromptForm {
  readonly messages: readonly Message[];
  readonly responseFormat?: LanguageModelV4CallOptions["responseFormat"];
}

export const structured = (
  messages: readonly Message[],
  schema: JsonValue | undefined,
  { structured_output }: Pick<Provider, "structured_output">,
): PromptForm => {
  if (schema === undefined) return { messages };
  if (structured_output)
    return { messages, responseFormat: { type: "json", schema: structuredClone(schema) as never } };
  const text = `Your last message must be one JSON value that matches this JSON Schema, and nothing else: no code fence, no other words.\n${JSON.stringify(schema)}`;
  return { messages: [{ role: "system", text }, ...messages] };
};
