/** The messages of the engine as the prompt of a provider. Pure. */
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ProviderDialect } from "../../protocol/providers.ts";
import type { AssistantMessage, Message, ToolCall, ToolSpec } from "../model.ts";
import { keptParts } from "./answer.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type ToolMessage = Extract<Message, { role: "tool" }>;

/** A prefix of the prompt that ends here may stay in the provider's cache: the next step sends it again. */
const CACHED: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

export const promptOf = (messages: readonly Message[], dialect: ProviderDialect): LanguageModelV4Prompt => {
  const prompt: LanguageModelV4Message[] = [];
  for (const message of messages) {
    const last = prompt.at(-1);
    // All results of one step stand in one message.
    if (message.role === "tool" && last?.role === "tool") last.content.push(resultOf(message));
    else if (!isEmpty(message)) prompt.push(messageOf(message, dialect));
  }
  return dialect === "anthropic" ? withCachePoints(prompt) : prompt;
};

/** An answer without anything in it: no provider takes it back. */
const isEmpty = (message: Message): boolean =>
  message.role === "assistant" && message.text === "" && message.tool_calls.length === 0;

const messageOf = (message: Message, dialect: ProviderDialect): LanguageModelV4Message => {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user":
      return { role: "user", content: [{ type: "text", text: message.text }] };
    case "assistant":
      return { role: "assistant", content: contentOf(message, dialect) };
    case "tool":
      return { role: "tool", content: [resultOf(message)] };
  }
};

const resultOf = ({ call_id, name, output, is_error }: ToolMessage): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: call_id,
  toolName: name,
  output:
    typeof output === "string"
      ? { type: is_error ? "error-text" : "text", value: output }
      : // A copy, because the port's JSON is read-only and the library's is not.
        { type: is_error ? "error-json" : "json", value: structuredClone(output) as never },
});

/** With its kept parts in their order; a message that another dialect has made, without them. */
const contentOf = (message: AssistantMessage, dialect: ProviderDialect): AssistantContent => {
  const kept = keptParts(message, dialect);
  const calls = new Map(message.tool_calls.map((call) => [call.id, call]));
  if (kept === undefined)
    return [...textPart(message.text), ...message.tool_calls.map((call) => callPart(call))];
  let at = 0;
  return kept.flatMap((part): AssistantContent => {
    if (part.kind === "text") {
      const text = message.text.slice(at, at + part.units);
      at += part.units;
      return textPart(text);
    }
    const options =
      part.metadata === undefined ? {} : { providerOptions: part.metadata as SharedV4ProviderOptions };
    if (part.kind === "reasoning") return [{ type: "reasoning", text: part.text, ...options }];
    const call = calls.get(part.id);
    return call === undefined ? [] : [{ ...callPart(call), ...options }];
  });
};

/** No provider takes an empty text. */
const textPart = (text: string): AssistantContent => (text === "" ? [] : [{ type: "text", text }]);

const callPart = ({ id, name, input }: ToolCall) =>
  ({ type: "tool-call", toolCallId: id, toolName: name, input }) as const;

/** One behind the instructions and the tools, which never change, and one behind everything. */
const withCachePoints = (prompt: readonly LanguageModelV4Message[]): LanguageModelV4Prompt => {
  const instructions = prompt.findLastIndex(({ role }) => role === "system");
  return prompt.map((message, index) =>
    index === instructions || index === prompt.length - 1 ? { ...message, providerOptions: CACHED } : message,
  );
};

export const toolsOf = (tools: readonly ToolSpec[]): LanguageModelV4FunctionTool[] =>
  tools.map(({ name, description, input_schema }) => ({
    type: "function",
    name,
    description,
    inputSchema: structuredClone(input_schema) as LanguageModelV4FunctionTool["inputSchema"],
  }));
