/**
 * Decodes Gemini CLI's stream-json (docs/reference/adapters.md): a closed set of six types. It never prints reasoning,
 * its messages have no ids, and a retry repeats text without a mark. `result.status`, not the exit code, says
 * how the turn ended.
 */

import {
  asCount,
  asName,
  asNumber,
  asObject,
  asString,
  bytesOf,
  type JsonObject,
} from "../../../base/json.ts";
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { classifyName, classifyText } from "../../decoding/classify.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { stepsOf } from "../../decoding/steps.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import type { GeminiState } from "./state.ts";

const voice = voiceOf("gemini_cli");
const steps = stepsOf(voice, "A session of Gemini CLI started.");

const onEvent = (state: GeminiState, event: JsonObject, out: DecodedItem[]): GeminiState => {
  switch (event.type) {
    case "init": {
      const next = steps.onSession(state, asString(event.session_id), out, { model: asName(event.model) });
      return steps.turnBegan(next, out);
    }
    case "message":
      return onMessage(state, event, out);
    case "tool_use": {
      const tool = toolOf(state, event, asName(event.tool_name));
      return { ...steps.onCall(state, tool, out), speaking: false };
    }
    case "tool_result": {
      const failed = event.status === "error";
      const end = { failed, exit_code: null, bytes: { result: bytesOf(event.output) } };
      return { ...steps.onResult(state, toolOf(state, event, null), end, out), speaking: false };
    }
    case "error":
      return onErrorLine(state, event, out);
    case "result":
      return onResult(state, event, out);
  }
  out.push(voice.unknown({ type: asName(event.type) }));
  return state;
};

/** Its text comes in deltas, which are never so long. */
const onLong = (state: GeminiState, event: JsonObject, out: DecodedItem[]): GeminiState | undefined => {
  switch (event.type) {
    case "tool_use":
      return { ...steps.onCall(state, toolOf(state, event, asName(event.tool_name)), out), speaking: false };
    case "tool_result": {
      const end = { truncated: true, failed: event.status === "error", exit_code: null };
      return { ...steps.onResult(state, toolOf(state, event, null), end, out), speaking: false };
    }
    default:
      return undefined;
  }
};

export const decode = decoderOf(voice, onEvent, onLong);

/** Text with another role than the agent's is the prompt. */
const onMessage = (state: GeminiState, event: JsonObject, out: DecodedItem[]): GeminiState => {
  if (event.role !== "assistant") {
    if (event.role !== "user") out.push(voice.unknown({ type: "message", role: asName(event.role) }));
    return state;
  }
  const text = asString(event.content) ?? "";
  if (text === "") return state;
  const messages = state.speaking ? state.messages : state.messages + 1;
  return { ...steps.onText(state, `message-${messages}`, text, out), messages, speaking: true };
};

const toolOf = ({ session }: GeminiState, event: JsonObject, name: string | null): ToolFacts => ({
  item_id: null,
  thread_id: asName(session),
  kind: "tool_use",
  name,
  use_id: asName(event.tool_id),
});

const onErrorLine = (state: GeminiState, event: JsonObject, out: DecodedItem[]): GeminiState => {
  if (event.severity === "error") return steps.onError(state, errorOf(asString(event.message)), out);
  out.push(voice.status("The agent's CLI gave a warning."));
  return state;
};

/** Errors come as text, some with the provider's JSON. The text is classified and dropped. */
const errorOf = (message = ""): WorkerError =>
  classifyText(message) ?? (message.startsWith("[API Error:") ? UNNAMED.provider : UNNAMED.agent);

/** Errors whose text names no more than the source. */
const UNNAMED = {
  agent: { code: "AGENT_FAILED", message: "Gemini CLI reported an error." },
  provider: { code: "PROVIDER_ERROR", message: "The provider failed or did not answer." },
} as const satisfies Record<string, WorkerError>;

export const isUnnamed = ({ message }: WorkerError): boolean =>
  message === UNNAMED.agent.message || message === UNNAMED.provider.message;

const onResult = (state: GeminiState, event: JsonObject, out: DecodedItem[]): GeminiState => {
  const stats = asObject(event.stats) ?? {};
  const duration_ms = asNumber(stats.duration_ms) ?? null;
  const error = event.status === "success" ? null : resultError(state, asObject(event.error));
  const told = error === null ? state : steps.onError(state, error, out);
  return { ...steps.turnEnded(told, geminiUsage(stats), duration_ms, error, out), speaking: false };
};

const resultError = ({ reported }: GeminiState, error: JsonObject | undefined): WorkerError => {
  const named = classifyName(error?.type);
  if (named !== undefined) return named;
  const told = errorOf(asString(error?.message));
  return isUnnamed(told) ? (reported ?? told) : told;
};

/**
 * The usage in Gemini CLI's `result.stats`, which includes cached tokens in `input_tokens` and reports no
 * cost.
 */
const geminiUsage = (stats: JsonObject): Usage => ({
  ...NO_USAGE,
  input_tokens: asCount(stats.input_tokens),
  output_tokens: asCount(stats.output_tokens),
  cached_tokens: asCount(stats.cached),
});
