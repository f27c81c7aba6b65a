/**
 * Decodes Qwen Code's stream-json. Its lines have the shape of Claude Code's: `system`, `assistant` with one
 * block each, `user` with the results of tools, and one `result` at the end, which alone says how the run went.
 */

import {
  asCount,
  asList,
  asName,
  asNumber,
  asObject,
  asString,
  type JsonObject,
} from "../../../base/json.ts";
import type { Usage } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { classifyName } from "../../decoding/classify.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { type EventFacts, type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { keptAnswer, NO_ANSWER } from "../../decoding/final-text.ts";
import { stepsOf } from "../../decoding/steps.ts";
import { addUsage, NO_USAGE } from "../../decoding/usage.ts";
import { errorOf, parted } from "./errors.ts";
import { denial, OPENING_ID, refusal } from "./messages.ts";
import type { QwenState } from "./state.ts";

const voice = voiceOf("qwen_code");
const steps = stepsOf(voice, "A session of Qwen Code started.");

const onEvent = (state: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  switch (event.type) {
    case "system":
      return onSystem(state, event, out);
    case "assistant":
      return onAssistant(released(state, out), event, out);
    case "user":
      return onUser(released(state, out), event, out);
    case "stream_event":
      return onStreamEvent(state, event, out);
    case "result":
      return onResult(state, event, out);
    case "control_request":
      return onRequest(state, event, out);
    case "control_response":
      return onResponse(state, event, out);
  }
  out.push(voice.unknown({ type: asName(event.type) }));
  return state;
};

/** Lines that must not be skipped silently: answers, the end of the turn, and lines without a type. */
const MATTERS: ReadonlySet<unknown> = new Set(["assistant", "result", undefined]);

const onLong = (state: QwenState, event: JsonObject, out: DecodedItem[]): QwenState | undefined => {
  if (event.type === "user") return onUser(released(state, out), event, out, true);
  if (event.type === "control_response") return onResponse(state, event, out);
  return MATTERS.has(event.type) ? undefined : state;
};

export const decode = decoderOf(voice, onEvent, onLong);

/** A conversation begins each of its turns so, after the CLI has read the message of it. */
const onTurn = (state: QwenState, out: DecodedItem[]): QwenState => {
  const { read: message_id, ...begun } = steps.turnBegan(state, out);
  if (message_id === undefined) return begun;
  const turn = begun.turns_started;
  out.push({ type: "worker_message", payload: { message_id, state: "acknowledged", turn } });
  return begun;
};

/** The answer to a request of ours: only that to one with the id of a message says something. */
const onResponse = (state: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  const id = asName(asObject(event.response)?.request_id);
  out.push(voice.status("The agent answered a request of its host.", { protocol: true }));
  return id === null || id === OPENING_ID || state.spoken === undefined ? state : { ...state, read: id };
};

/** Denies what needs a permission, and refuses every other request of the CLI to its host, so that it does not wait. */
const onRequest = (state: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  const key = asName(event.request_id);
  const subtype = asName(asObject(event.request)?.subtype);
  out.push(voice.status("The agent sent a request to its host.", { request: subtype, protocol: true }));
  if (key !== null && state.spoken !== undefined)
    out.push({ type: "reply", line: subtype === "can_use_tool" ? denial(key) : refusal(key) });
  return state;
};

const onSystem = (state: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  switch (event.subtype) {
    case "init": {
      const facts = {
        model: asName(event.model),
        cli_version: asName(event.qwen_code_version),
        permission_mode: asName(event.permission_mode),
        tools: asList(event.tools).length,
        mcp_servers: asList(event.mcp_servers).length,
      };
      return onTurn(steps.onSession(state, asString(event.session_id), out, facts), out);
    }
    case "retry":
      out.push(voice.retrying());
      return state;
  }
  const notice = typeof event.subtype === "string" ? NOTICES.get(event.subtype) : undefined;
  if (notice === undefined) out.push(voice.unknown({ type: "system", subtype: asName(event.subtype) }));
  else out.push(voice.status(notice, { subtype: asName(event.subtype) }));
  return state;
};

/** Types that inform a reader and do not affect the outcome. */
const NOTICES: ReadonlyMap<string, string> = new Map([
  ["task_started", "A background task started."],
  ["task_notification", "A background task reported back."],
  ["model_fallback", "Another model was asked."],
  ["session_start", "The agent's CLI began its session."],
  ["session_end", "The agent's CLI ended its session."],
  ["worktree_started", "The agent works in a worktree of its own."],
  ["worktree_restored", "The agent works in its worktree again."],
  ["continue_turn_failed", "The agent's CLI could not continue its turn."],
]);

/** The whole message repeats its deltas (`--include-partial-messages`). */
const onStreamEvent = (state: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  const type = asObject(event.event)?.type;
  if (type === "goal_state") out.push(voice.status("The agent's CLI reported the state of its goal."));
  else if (!FRAMING.has(type)) out.push(voice.unknown({ type: "stream_event", event: asName(type) }));
  return state;
};

const FRAMING: ReadonlySet<unknown> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_stop",
]);

const onAssistant = (before: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  const message = asObject(event.message);
  if (message === undefined) {
    out.push(voice.unknown({ type: "assistant" }));
    return before;
  }
  const id = asName(message.id) ?? "message";
  const parent = asName(event.parent_tool_use_id);
  let state: QwenState = { ...before, spent: addUsage(before.spent, usageOf(asObject(message.usage))) };
  for (const item of asList(message.content)) {
    const block = asObject(item);
    switch (block?.type) {
      case "text":
        state = onText(state, id, parent, asString(block.text) ?? "", out);
        break;
      case "thinking":
        if (typeof block.thinking === "string" && block.thinking !== "")
          out.push(voice.text("reasoning", block.thinking, saidIn(id, parent)));
        break;
      case "tool_use": {
        const tool = toolOf(state, parent, asName(block.id), asName(block.name));
        state = steps.onCall(state, tool, out);
        break;
      }
      default:
        out.push(voice.unknown({ type: "content_block", block: asName(block?.type) }));
    }
  }
  return state;
};

const saidIn = (message_id: string, parent: string | null): EventFacts =>
  parent === null ? { message_id } : { message_id, parent_tool_use_id: parent };

/** The text of a sub-agent is no part of the answer. */
const onText = (
  state: QwenState,
  message_id: string,
  parent: string | null,
  text: string,
  out: DecodedItem[],
): QwenState => {
  if (parent !== null) {
    if (text !== "") out.push(voice.text("assistant", text, saidIn(message_id, parent)));
    return state;
  }
  const [said, error] = parted(text);
  const next = steps.onText(state, message_id, said, out);
  return error === "" ? next : { ...next, held: { message_id, text: error } };
};

/** The held text was the model's after all: the turn goes on, or ended well. */
const released = (state: QwenState, out: DecodedItem[]): QwenState => {
  const { held } = state;
  return held === null ? state : steps.onText({ ...state, held: null }, held.message_id, held.text, out);
};

const onUser = (before: QwenState, event: JsonObject, out: DecodedItem[], truncated = false): QwenState => {
  const content = asObject(event.message)?.content;
  const parent = asName(event.parent_tool_use_id);
  let state = before;
  for (const item of asList(content)) {
    const block = asObject(item);
    if (block?.type === "tool_result") {
      const failed = block.is_error === true;
      const exit_code = failed ? exitCode(block.content) : null;
      const bytes = { result: typeof block.content === "string" ? Buffer.byteLength(block.content) : 0 };
      const tool = toolOf(state, parent, asName(block.tool_use_id), null);
      state = steps.onResult(state, tool, { truncated, failed, exit_code, bytes }, out);
    } else if (block?.type === "text") out.push(voice.status("A message was given to the agent."));
    else out.push(voice.unknown({ type: "content_block", block: asName(block?.type) }));
  }
  if (!Array.isArray(content) && !truncated) out.push(voice.status("A message was given to the agent."));
  return state;
};

/** The exit code of a failed shell command is only in its text. */
const exitCode = (content: unknown): number | null => {
  const code = typeof content === "string" ? /^Exit Code: (\d{1,3})$/m.exec(content)?.[1] : undefined;
  return code === undefined ? null : Number(code);
};

const toolOf = (
  { session }: QwenState,
  parent: string | null,
  use_id: string | null,
  name: string | null,
): ToolFacts => ({
  item_id: null,
  thread_id: session,
  kind: "tool_use",
  name,
  use_id,
  parent_tool_use_id: parent,
});

/** The CLI includes cached tokens in its input, whatever the provider does, and reports no cost. */
const usageOf = (told: JsonObject | undefined): Usage => ({
  ...NO_USAGE,
  input_tokens: asCount(told?.input_tokens),
  output_tokens: asCount(told?.output_tokens),
  cached_tokens: asCount(told?.cache_read_input_tokens),
});

/** With --json-schema, the answer is the input of a tool, and all texts were said besides it. */
const answered = (state: QwenState, { structured_result: answer }: JsonObject): QwenState =>
  answer === undefined || answer === null
    ? state
    : { ...state, answer: { id: STRUCTURED, ...keptAnswer(NO_ANSWER, JSON.stringify(answer)) } };

/** Stands for the id of a message. */
const STRUCTURED = "structured_result";

/**
 * The usage of a `result` covers the whole session, side requests included, so it is the run's only where
 * the session is new. Otherwise the messages of the run are counted.
 */
const onResult = (before: QwenState, event: JsonObject, out: DecodedItem[]): QwenState => {
  const isGood = event.is_error === false && event.subtype === "success";
  const state = isGood ? released(before, out) : { ...before, held: null };
  const error = isGood
    ? null
    : (classifyName(event.subtype) ?? errorOf(asString(asObject(event.error)?.message) ?? ""));
  const told = error === null ? state : steps.onError(state, error, out);
  const usage = state.goes_on ? state.spent : usageOf(asObject(event.usage));
  const duration_ms = asNumber(event.duration_ms) ?? null;
  return { ...steps.turnEnded(answered(told, event), usage, duration_ms, error, out), spent: NO_USAGE };
};
