/** Decodes the lines of the engine (protocol/engine-lines.ts). Each field is read as if anybody could have printed it. */
import { asCount, asName, asObject, asString, type JsonObject } from "../../../base/json.ts";
import type { ModelUsage, TokenCounts, Usage } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { approvalRequested } from "../../approval.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { UNKNOWN_END, usableId } from "../../decoding/dialogue.ts";
import { errorIn } from "../../decoding/error-in.ts";
import { sessionStarted, type ToolFacts, turnCompleted, voiceOf } from "../../decoding/events.ts";
import { keptText } from "../../decoding/final-text.ts";
import { turnBegan } from "../../decoding/steps.ts";
import { addUsage } from "../../decoding/usage.ts";
import { ASKS_MAX, type LlmState } from "./state.ts";

const voice = voiceOf("llm");

const tokensOf = (given: unknown): TokenCounts => {
  const usage = asObject(given);
  return {
    input_tokens: asCount(usage?.input_tokens),
    cached_tokens: asCount(usage?.cached_tokens),
    cache_write_tokens: asCount(usage?.cache_write_tokens),
    output_tokens: asCount(usage?.output_tokens),
    reasoning_tokens: asCount(usage?.reasoning_tokens),
  };
};

const usageOf = ({ cache_write_tokens, ...tokens }: TokenCounts): Usage => ({
  ...tokens,
  // As a provider counts them that charges for what it writes to its cache.
  input_tokens: tokens.input_tokens + cache_write_tokens,
  cost_usd: null,
});

const modelsOf = (tokens: TokenCounts, model: unknown): readonly ModelUsage[] => [
  { model: asName(model), ...tokens, cost_usd: null },
];

const toolOf = ({ call_id, name }: JsonObject): ToolFacts => ({
  item_id: asName(call_id),
  thread_id: null,
  kind: "tool_use",
  name: asName(name),
  use_id: asName(call_id),
});

const onSession = (state: LlmState, { id, model }: JsonObject, out: DecodedItem[]): LlmState => {
  const session = usableId(id);
  if (session === undefined || session === state.session) return state;
  out.push(sessionStarted(session));
  if (!state.announced)
    out.push(voice.session("The engine has opened its session.", session, { model: asName(model) }));
  return { ...state, session, announced: true };
};

const acknowledged = (message_id: unknown, turn: number | null): readonly DecodedItem[] => {
  const id = asName(message_id);
  return id === null
    ? []
    : [{ type: "worker_message", payload: { message_id: id, state: "acknowledged", turn } }];
};

const onTurn = (state: LlmState, { message_id, is_resumed }: JsonObject, out: DecodedItem[]): LlmState => {
  const begun = turnBegan(state, out);
  out.push(...acknowledged(message_id, begun.turns_started));
  if (is_resumed === true) out.push(voice.status("The engine goes on with a turn that was cut off."));
  return begun;
};

const onText = ({ channel, text, step }: JsonObject, out: DecodedItem[]): void => {
  const said = asString(text);
  if (said === undefined || said === "") return;
  out.push(voice.text(channel === "reasoning" ? "reasoning" : "assistant", said, { step: asCount(step) }));
};

const onResult = (line: JsonObject, out: DecodedItem[]): void => {
  const { outcome, is_error, bytes, name, call_id } = line;
  if (outcome === "denied") out.push(voice.denied({ tool_name: asName(name), tool_use_id: asName(call_id) }));
  else
    out.push(
      voice.toolResult(toolOf(line), {
        failed: is_error === true,
        exit_code: null,
        bytes: { result: asCount(bytes) },
        ...(outcome === "unknown" ? { unended: true } : {}),
      }),
    );
};

const onAsk = (state: LlmState, line: JsonObject, out: DecodedItem[]): LlmState => {
  const key = asName(line.key);
  if (key === null) {
    out.push(voice.unknown({ type: "ask", reason: "no usable key" }));
    return state;
  }
  const { name: tool, title, input } = line;
  out.push(approvalRequested({ key, tool, tool_use_id: key, title, input, reply: key }));
  return { ...state, asks: [...state.asks, key].slice(-ASKS_MAX) };
};

const withdraw = (keys: readonly string[], out: DecodedItem[]): void => {
  for (const approval_id of keys) out.push({ type: "approval_withdrawn", payload: { approval_id } });
};

const onWithdrawn = (state: LlmState, { key }: JsonObject, out: DecodedItem[]): LlmState => {
  const asks = state.asks.filter((one) => one === key);
  withdraw(asks, out);
  return { ...state, asks: state.asks.filter((one) => one !== key) };
};

const onEnd = (before: LlmState, line: JsonObject, out: DecodedItem[]): LlmState => {
  const state = before.turns_started > before.turns_ended ? before : turnBegan(before, out);
  const error = errorIn(line.error);
  const tokens = tokensOf(line.usage);
  const usage = usageOf(tokens);
  if (error !== null) out.push(voice.error(error));
  out.push(turnCompleted(state.turns_started, usage, null, error, modelsOf(tokens, line.model)));
  const text = asString(line.text);
  return {
    ...state,
    turns_ended: state.turns_started,
    text: error === null && text !== undefined ? keptText(text) : null,
    asks: [],
    usage: addUsage(state.usage, usage),
    failed: error,
  };
};

const onRetry = ({ retry, max_retries, error }: JsonObject, out: DecodedItem[]): void => {
  const { code = null } = errorIn(error) ?? {};
  out.push(
    voice.retrying(
      { retry: asCount(retry), max_retries: asCount(max_retries) },
      code === null ? {} : { code },
    ),
  );
};

const onLine = (state: LlmState, line: JsonObject, out: DecodedItem[]): LlmState => {
  switch (line.type) {
    case "session":
      return onSession(state, line, out);
    case "turn":
      return onTurn(state, line, out);
    case "taken":
      out.push(...acknowledged(line.message_id, null));
      return state;
    case "text":
      onText(line, out);
      return state;
    case "usage": {
      const tokens = tokensOf(line.usage);
      out.push({ type: "turn_usage", usage: usageOf(tokens), models: modelsOf(tokens, null) });
      return state;
    }
    case "call":
      out.push(voice.toolCall(toolOf(line)));
      return state;
    case "result":
      onResult(line, out);
      return state;
    case "ask":
      return onAsk(state, line, out);
    case "withdrawn":
      return onWithdrawn(state, line, out);
    case "retry":
      onRetry(line, out);
      return state;
    case "compacted":
      out.push(voice.status("The engine compacted the conversation.", { policy: asName(line.policy) }));
      return state;
    case "corrected":
      out.push(voice.status("The answer did not match its schema: the model was asked once more."));
      return state;
    case "refused": {
      const refused = errorIn(line.error) ?? UNKNOWN_END;
      out.push(voice.error(refused));
      return { ...state, refused };
    }
    case "end":
      return onEnd(state, line, out);
  }
  out.push(voice.unknown({ type: asName(line.type) }));
  return state;
};

export const decode = decoderOf(voice, onLine, (state, { type }) => (type === "end" ? undefined : state));
