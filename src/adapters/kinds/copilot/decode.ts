/**
 * Decodes the JSON lines of Copilot CLI (docs/reference/adapters.md). It prints about a hundred types, most of them
 * without use for others. Text comes in deltas and again whole, and is recorded once. `session.error` is its
 * final error, because it retries a failed call of the model. Only its last line has the session's id; if we
 * chose the id, it is recorded with the prompt.
 */

import {
  asName,
  asNumber,
  asObject,
  asString,
  asWord,
  bytesOf,
  type JsonObject,
} from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { type EventFacts, type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { stepsOf } from "../../decoding/steps.ts";
import { INTERRUPTED, sessionError, UNNAMED } from "./errors.ts";
import { DROPPED, NOTICES } from "./notices.ts";
import { type CopilotState, STREAMED_MAX } from "./state.ts";

const voice = voiceOf("copilot");
const steps = stepsOf(voice, "A session of Copilot CLI started.");

const onEvent = (state: CopilotState, event: JsonObject, out: DecodedItem[]): CopilotState => {
  const data = asObject(event.data) ?? {};
  const agent = asName(event.agentId);
  switch (event.type) {
    case "user.message":
      return agent === null ? begun(state, out) : state;
    case "assistant.turn_start":
      // The agent continued after an error.
      return agent === null && state.reported !== null ? { ...state, reported: null } : state;
    case "assistant.message_delta":
    case "assistant.message":
      return onMessage(state, event.type, data, agent, out);
    case "assistant.reasoning_delta":
    case "assistant.reasoning":
      return onReasoning(state, event.type, data, agent, out);
    case "tool.execution_start":
      return steps.onCall(state, toolOf(state, data, agent), out);
    case "tool.execution_complete":
      return onToolEnd(state, data, agent, out);
    case "model.call_failure":
      return onCallFailure(state, data, out);
    case "session.error":
      // A sub-agent's error goes to its agent, which continues.
      if (agent !== null) break;
      return steps.onError(state, sessionError(data, state.http_status), out);
    case "result":
      return onResult(state, event, out);
  }
  return onOther(state, event, data, out);
};

const onLong = (state: CopilotState, event: JsonObject, out: DecodedItem[]): CopilotState | undefined => {
  const data = asObject(event.data) ?? {};
  const agent = asName(event.agentId);
  switch (event.type) {
    case "tool.execution_start":
      return steps.onCall(state, toolOf(state, data, agent), out);
    case "tool.execution_complete":
      return onToolEnd(state, data, agent, out, true);
    case "assistant.message":
      // The whole text repeats recorded deltas.
      return state.streamed.includes(asName(data.messageId) ?? "") ? state : undefined;
    case "assistant.message_delta":
    case "user.message":
    case "session.error":
    case "result":
    case undefined:
      return undefined;
    default:
      return state;
  }
};

export const decode = decoderOf(voice, onEvent, onLong);

/** The prompt is in the session now, so a later run finds it there even after a kill. */
const begun = (before: CopilotState, out: DecodedItem[]): CopilotState => {
  const state = steps.onSession(before, before.chosen ?? undefined, out);
  return begunAnyway(state, out);
};

const onOther = (
  state: CopilotState,
  event: JsonObject,
  data: JsonObject,
  out: DecodedItem[],
): CopilotState => {
  if (DROPPED.has(event.type)) return state;
  const notice = NOTICES.get(event.type);
  if (notice === undefined) out.push(voice.unknown({ type: asName(event.type) }));
  else out.push(voice.status(notice, noticeFacts(event, data)));
  const aborted = event.type === "abort" || event.type === "agent.interrupted";
  return aborted ? { ...state, aborted } : state;
};

const noticeFacts = (event: JsonObject, data: JsonObject): EventFacts => {
  const facts: { [key: string]: string | null } = { type: asName(event.type) };
  for (const name of ["reason", "infoType", "warningType", "agentName", "activity"])
    if (data[name] !== undefined) facts[name] = asWord(data[name]);
  if (event.agentId !== undefined) facts.agent_id = asName(event.agentId);
  return facts;
};

/** The call of the sub-agent that writes this, or its own id; undefined for the main agent. */
const parentOf = (data: JsonObject, agent: string | null): string | undefined =>
  agent === null ? undefined : (asName(data.parentToolCallId) ?? agent);

const streaming = (state: CopilotState, id: string): CopilotState =>
  state.streamed.includes(id) ? state : { ...state, streamed: [...state.streamed, id].slice(-STREAMED_MAX) };

const onMessage = (
  before: CopilotState,
  type: "assistant.message_delta" | "assistant.message",
  data: JsonObject,
  agent: string | null,
  out: DecodedItem[],
): CopilotState => {
  const id = asName(data.messageId) ?? "message";
  const isDelta = type === "assistant.message_delta";
  if (!isDelta && before.streamed.includes(id)) return before;
  const text = asString(isDelta ? data.deltaContent : data.content) ?? "";
  const state = isDelta ? streaming(before, id) : before;
  const parent = parentOf(data, agent);
  if (parent === undefined) return steps.onText(state, id, text, out);
  if (text !== "") out.push(voice.text("assistant", text, { message_id: id, parent_tool_use_id: parent }));
  return state;
};

const onReasoning = (
  before: CopilotState,
  type: "assistant.reasoning_delta" | "assistant.reasoning",
  data: JsonObject,
  agent: string | null,
  out: DecodedItem[],
): CopilotState => {
  const id = asName(data.reasoningId) ?? "reasoning";
  const isDelta = type === "assistant.reasoning_delta";
  if (!isDelta && before.streamed.includes(id)) return before;
  const text = asString(isDelta ? data.deltaContent : data.content) ?? "";
  const parent = parentOf(data, agent);
  const facts: EventFacts =
    parent === undefined ? { message_id: id } : { message_id: id, parent_tool_use_id: parent };
  if (text !== "") out.push(voice.text("reasoning", text, facts));
  return isDelta ? streaming(before, id) : before;
};

const toolOf = ({ session }: CopilotState, data: JsonObject, agent: string | null): ToolFacts => ({
  item_id: null,
  thread_id: asName(session),
  kind: data.mcpServerName === undefined ? "tool_use" : "mcp_tool_use",
  name: asName(data.toolName),
  use_id: asName(data.toolCallId),
  parent_tool_use_id: parentOf(data, agent) ?? null,
});

const onToolEnd = (
  state: CopilotState,
  data: JsonObject,
  agent: string | null,
  out: DecodedItem[],
  truncated = false,
): CopilotState => {
  const exit = asNumber(asObject(data.shellExecution)?.exitCode);
  const exit_code = exit === undefined ? null : Math.trunc(exit);
  const failed = (data.success !== true && !truncated) || (exit_code ?? 0) !== 0;
  const tool = toolOf(state, data, agent);
  const end = { truncated, failed, exit_code, bytes: { result: bytesOf(asObject(data.result)?.content) } };
  const next = steps.onResult(state, tool, end, out);
  if (asObject(data.error)?.code === "denied") {
    const tool_name = tool.name ?? state.tools.find(([id]) => id === tool.use_id)?.[1] ?? null;
    out.push(voice.denied({ tool_name, tool_use_id: tool.use_id }));
  }
  return next;
};

/** The CLI retries the call. The text of an answer that was cut off then comes again, as another message. */
const onCallFailure = (state: CopilotState, data: JsonObject, out: DecodedItem[]): CopilotState => {
  const http_status = asNumber(data.statusCode) ?? 0;
  out.push(
    voice.status("A call of the model failed.", {
      retry: asNumber(data.retryAttempt) ?? null,
      http_status: http_status === 0 ? null : http_status,
      failure: asWord(data.failureKind),
    }),
  );
  return http_status === state.http_status ? state : { ...state, http_status };
};

const onResult = (before: CopilotState, event: JsonObject, out: DecodedItem[]): CopilotState => {
  const state = steps.onSession(
    before.ended === null ? begunAnyway(before, out) : before,
    asString(event.sessionId),
    out,
  );
  const isGood = event.exitCode === 0 && !state.aborted;
  const error = state.reported ?? (isGood ? null : state.aborted ? INTERRUPTED : UNNAMED);
  const told = error === null ? state : steps.onError(state, error, out);
  const duration_ms = asNumber(asObject(event.usage)?.sessionDurationMs) ?? null;
  return { ...told, ended: { duration_ms, error }, http_status: 0 };
};

const begunAnyway = (state: CopilotState, out: DecodedItem[]): CopilotState =>
  state.turns_started > state.turns_ended ? state : steps.turnBegan(state, out);
