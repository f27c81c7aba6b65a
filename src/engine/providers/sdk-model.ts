/**
 * The model of the engine over the providers of the AI SDK: one request, one stream, no retry. A provider's library is loaded
 * at its first request (docs/reference/models.md).
 */
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { MODEL_SILENCE_MAX_MS, MODEL_WIRE_MAX_BYTES } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type FinishReason, type Model, ModelError, type ModelPart, type ModelRequest } from "../model.ts";
import { type Secrets, secretOf } from "../secrets.ts";
import { boundedFetch } from "../wire.ts";
import { AnswerBuilder } from "./answer.ts";
import { loadDialect } from "./dialect.ts";
import { cutOff, modelErrorOf } from "./errors.ts";
import { promptOf, toolsOf } from "./prompt.ts";
import { findModel, type NamedModel, type Provider } from "./provider.ts";
import { structured } from "./structured.ts";
import { tokensOf } from "./usage.ts";

export interface SdkModelOptions {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly secrets: Secrets;
  /** The time by the wall, in milliseconds. */
  readonly now: () => number;
  /** The longest silence of a provider, in milliseconds. Default: MODEL_SILENCE_MAX_MS. */
  readonly silence_ms?: number;
}

export const makeSdkModel = (options: SdkModelOptions): Model => ({
  async *stream(request, signal) {
    try {
      const named = findModel(request.model, options.providers);
      const stream = await opened(named, request, signal, options);
      yield* partsOf(stream, named.provider, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw modelErrorOf(error, options.now());
    }
  },
});

const opened = async (
  { provider, model }: NamedModel,
  request: ModelRequest,
  abortSignal: AbortSignal,
  { secrets, silence_ms = MODEL_SILENCE_MAX_MS }: SdkModelOptions,
): Promise<ReadableStream<LanguageModelV4StreamPart>> => {
  const key = await keyOf(provider, secrets);
  const open = await loadDialect(provider.dialect);
  const { messages, responseFormat } = structured(request.messages, request.output_schema, provider);
  const { stream } = await open({
    provider,
    model,
    key,
    fetch: boundedFetch({ silence_ms, max_bytes: MODEL_WIRE_MAX_BYTES }),
  }).doStream({
    prompt: promptOf(messages, provider.dialect),
    tools: request.tools.length === 0 ? undefined : toolsOf(request.tools),
    maxOutputTokens: request.max_output_tokens,
    responseFormat,
    abortSignal,
  });
  return stream;
};

/** Undefined if the provider needs none. */
const keyOf = async ({ name, key }: Provider, secrets: Secrets): Promise<string | undefined> => {
  if (key === undefined) return undefined;
  return secretOf(key, `the provider ${name}`, secrets).catch((cause: HoldfastError) => {
    throw new ModelError("auth", cause.message);
  });
};

async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  { dialect }: Provider,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const answer = new AnswerBuilder();
  for await (const part of stream) {
    signal.throwIfAborted();
    answer.add(part);
    if (part.type === "text-delta" && part.delta !== "") yield { type: "text", text: part.delta };
    else if (part.type === "reasoning-delta" && part.delta !== "")
      yield { type: "reasoning", text: part.delta };
    else if (part.type === "error") throw part.error;
    else if (part.type === "finish") {
      const reason = reasonOf(part.finishReason);
      const message = answer.message(dialect);
      yield { type: "finished", reason, message, usage: tokensOf(part.usage) };
      return;
    }
  }
  throw cutOff();
}

/** Throws for an end that is none: the line was cut, or the provider gives no reason that it knows. */
const reasonOf = ({ unified, raw }: LanguageModelV4FinishReason): FinishReason => {
  switch (unified) {
    case "tool-calls":
      return "tool_calls";
    case "content-filter":
      return "refusal";
    case "interrupted":
      throw cutOff();
    case "error":
      throw new ModelError("bad_answer", "The provider ended its answer with an error.");
    case "other":
      if (raw === undefined) throw cutOff();
      return "other";
    default:
      return unified;
  }
};
