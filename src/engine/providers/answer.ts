/**
 * Joins the parts of a provider's stream to one message. Beside the text and the calls it keeps, as opaque JSON, what the
 * same dialect wants back: reasoning with its signature, and the order of all parts. Pure.
 */
import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { asList, asNumber, asObject, asString } from "../../base/json.ts";
import { MODEL_ANSWER_MAX_BYTES, MODEL_CALLS_MAX } from "../../base/limits.ts";
import type { ProviderDialect } from "../../protocol/providers.ts";
import type { JsonValue } from "../../protocol/records.ts";
import { type AssistantMessage, ModelError, type ToolCall } from "../model.ts";

/** One part in its place. A text is kept by its length, because the message has it. */
export type KeptPart =
  | { readonly kind: "text"; readonly units: number }
  | { readonly kind: "reasoning"; readonly text: string; readonly metadata?: JsonValue }
  | { readonly kind: "call"; readonly id: string; readonly metadata?: JsonValue };

type AnswerPart =
  | { readonly kind: "text"; text: string }
  | { readonly kind: "reasoning"; text: string; metadata?: SharedV4ProviderMetadata }
  | { readonly kind: "call"; readonly call: ToolCall; readonly metadata?: SharedV4ProviderMetadata };

const bad = (message: string): ModelError => new ModelError("bad_answer", message);

/** A call without any input counts as one with an empty object. */
const inputOf = (name: string, text: string): JsonValue => {
  try {
    return JSON.parse(text === "" ? "{}" : text) as JsonValue;
  } catch {
    throw bad(`The model called ${name.slice(0, 64)} with an input that is no JSON.`);
  }
};

export class AnswerBuilder {
  private readonly drafts: AnswerPart[] = [];
  private readonly open = new Map<string, AnswerPart & { text: string }>();
  private bytes = 0;
  private calls = 0;

  /** Takes in a part; throws a ModelError if the answer is too large or makes no sense. Parts about other things are ignored. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-start":
        this.begin(`text ${part.id}`, { kind: "text", text: "" });
        break;
      case "reasoning-start":
        this.begin(`reasoning ${part.id}`, { kind: "reasoning", text: "", metadata: part.providerMetadata });
        break;
      case "text-delta":
        this.extend(`text ${part.id}`, part.delta);
        break;
      case "reasoning-delta":
        this.extend(`reasoning ${part.id}`, part.delta, part.providerMetadata);
        break;
      case "reasoning-end":
        this.extend(`reasoning ${part.id}`, "", part.providerMetadata);
        break;
      case "tool-input-delta":
        this.count(part.delta);
        break;
      case "tool-call":
        this.call(part);
        break;
    }
  }

  /** The whole message. `dialect` is the one that understands its opaque part. */
  message(dialect: ProviderDialect): AssistantMessage {
    const text = this.drafts.map((draft) => (draft.kind === "text" ? draft.text : "")).join("");
    const tool_calls = this.drafts.flatMap((draft) => (draft.kind === "call" ? [draft.call] : []));
    const kept = this.drafts.map(keptOf);
    const says = kept.some((part) => part.kind === "reasoning" || "metadata" in part);
    const provider = says ? (JSON.parse(JSON.stringify({ dialect, parts: kept })) as JsonValue) : undefined;
    return { role: "assistant", text, tool_calls, ...(provider !== undefined && { provider }) };
  }

  private begin(id: string, draft: AnswerPart & { text: string }): void {
    this.open.set(id, draft);
    this.drafts.push(draft);
  }

  private extend(id: string, delta: string, metadata?: SharedV4ProviderMetadata): void {
    this.count(delta);
    const draft = this.open.get(id);
    if (draft === undefined) return;
    draft.text += delta;
    if (draft.kind === "reasoning" && metadata !== undefined) draft.metadata = metadata;
  }

  private call({
    toolCallId,
    toolName,
    input,
    providerMetadata,
  }: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>): void {
    this.calls += 1;
    if (this.calls > MODEL_CALLS_MAX)
      throw bad(`The model made more than ${MODEL_CALLS_MAX} tool calls at once.`);
    const call = { id: toolCallId, name: toolName, input: inputOf(toolName, input) };
    this.drafts.push({ kind: "call", call, metadata: providerMetadata });
  }

  private count(delta: string): void {
    this.bytes += Buffer.byteLength(delta);
    if (this.bytes > MODEL_ANSWER_MAX_BYTES)
      throw bad(`The answer has more than ${MODEL_ANSWER_MAX_BYTES} bytes.`);
  }
}

const keptOf = (draft: AnswerPart): KeptPart => {
  if (draft.kind === "text") return { kind: "text", units: draft.text.length };
  const metadata = draft.metadata as JsonValue | undefined;
  const more = metadata === undefined ? {} : { metadata };
  return draft.kind === "call"
    ? { kind: "call", id: draft.call.id, ...more }
    : { kind: "reasoning", text: draft.text, ...more };
};

/** The kept parts of a message of this dialect; undefined for a message of another one, or of none. */
export const keptParts = (
  { provider }: AssistantMessage,
  dialect: ProviderDialect,
): readonly KeptPart[] | undefined => {
  const kept = asObject(provider);
  if (kept?.dialect !== dialect) return undefined;
  return asList(kept.parts).flatMap((one): readonly KeptPart[] => {
    const part = asObject(one);
    const metadata = part?.metadata as JsonValue | undefined;
    const more = metadata === undefined ? {} : { metadata };
    switch (part?.kind) {
      case "text":
        return [{ kind: "text", units: asNumber(part.units) ?? 0 }];
      case "reasoning":
        return [{ kind: "reasoning", text: asString(part.text) ?? "", ...more }];
      case "call":
        return [{ kind: "call", id: asString(part.id) ?? "", ...more }];
      default:
        return [];
    }
  });
};
