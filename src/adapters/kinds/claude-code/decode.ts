/**
 * Decodes Claude Code's stream-json, line by line (docs/reference/adapters.md). Every handler takes the state and
 * returns the next one, and pushes records to `out`. An unknown type is normal, because new ones appear every
 * few weeks, and becomes one Unknown event.
 */

import { appended } from "../../../base/bounded-list.ts";
import { asList, asName, asNumber, asObject, asString, asWord, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { approvalRequested } from "../../approval.ts";
import { classifyName, classifyStatus, withExpiry } from "../../decoding/classify.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { TOO_LONG, tooLongToRead, UNANSWERABLE } from "../../decoding/long-requests.ts";
import { resetAt } from "../../decoding/reset-time.ts";
import { stepsOf } from "../../decoding/steps.ts";
import { messageIdOf, refusal } from "./messages.ts";
import { onStreamEvent, saidIn, toldWhole } from "./partial.ts";
import { onResult, withLimit } from "./result.ts";
import { onMessageUsage, tellSpending } from "./spending.ts";
import { type ClaudeState, TOOLS_MAX } from "./state.ts";
import { onSystem } from "./system.ts";

const voice = voiceOf("claude_code");
const steps = stepsOf(voice, "A session of Claude Code started.");

const onEvent = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  switch (event.type) {
    case "assistant":
      return onAssistant(state, event, out);
    case "user":
      return onUser(state, event, out);
    case "stream_event":
      return onStreamEvent(state, event, out);
    case "result":
      return onResult(state, event, out);
    case "system":
      return onSystem(state, event, out);
    case "control_request":
      return onControlRequest(state, event, out);
    case "control_cancel_request": {
      const key = asName(event.request_id);
      if (key !== null) out.push({ type: "approval_withdrawn", payload: { approval_id: key } });
      return state;
    }
    // The position of a message in the CLI's own queue. The replay of the message shows that it was taken in.
    case "command_lifecycle":
      return state;
    case "rate_limit_event": {
      const told = asObject(event.rate_limit_info);
      out.push(voice.status("The provider reported the state of its rate limit.", limitFacts(told)));
      return { ...state, limit: told?.status === "rejected" ? resetAt(told.resetsAt) : undefined };
    }
  }
  const notice = typeof event.type === "string" ? NOTICES.get(event.type) : undefined;
  if (notice === undefined) out.push(voice.unknown({ type: asName(event.type) }));
  else
    out.push(
      voice.status(notice, { type: asName(event.type), ...(isProtocol(event) ? { protocol: true } : {}) }),
    );
  return state;
};

/** Messages between the CLI and its host that do not interest a reader of the log. */
const isProtocol = ({ type }: JsonObject): boolean => type === "control_response" || type === "keep_alive";

/**
 * A request of the CLI to its host. Only a permission to use a tool is granted or denied; everything else is
 * refused, so that the CLI does not wait.
 */
const onControlRequest = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const key = asName(event.request_id);
  const request = asObject(event.request);
  out.push(
    voice.status("The agent sent a request to its host.", {
      request: asName(request?.subtype),
      protocol: true,
    }),
  );
  if (key === null || state.spoken === undefined) return state;
  if (request?.subtype === "can_use_tool") {
    const { tool_name: tool, tool_use_id, description: title, input } = request;
    out.push(approvalRequested({ key, tool, tool_use_id, title, input, reply: key }));
  } else out.push({ type: "reply", line: refusal(key) });
  return state;
};

/** Lines that must not be skipped silently: answers, ends of turns, and lines without a type. */
const MATTERS: ReadonlySet<unknown> = new Set(["assistant", "result", undefined]);

const onLong = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState | undefined => {
  if (event.type === "user") return onLongResult(state, event, out);
  if (event.type === "control_request") return onLongRequest(state, event, out);
  return MATTERS.has(event.type) ? undefined : state;
};

/** Most often an image that the agent read. Only the ids of the calls are needed. */
const onLongResult = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const parent = asName(event.parent_tool_use_id);
  return asList(asObject(event.message)?.content)
    .map(asObject)
    .filter((block) => asName(block?.tool_use_id) !== null && asString(block?.type)?.endsWith("tool_result"))
    .reduce((next: ClaudeState, block) => onToolResult(next, block, undefined, parent, out, true), state);
};

/**
 * Handles a request that was too long to read. If its id is unknown too, it cannot be answered and the
 * agent's input is ended.
 */
const onLongRequest = (state: ClaudeState, { request_id }: JsonObject, out: DecodedItem[]): ClaudeState => {
  if (state.spoken === undefined) return state;
  const key = asName(request_id);
  if (key !== null) {
    out.push(...tooLongToRead(voice, refusal(key, TOO_LONG)));
    return state;
  }
  out.push(voice.error(UNANSWERABLE), { type: "reply", closes: true });
  return { ...state, unanswerable: true };
};

/** Types that inform a reader and do not affect the outcome. */
const NOTICES: ReadonlyMap<string, string> = new Map([
  ["control_response", "The agent answered a request of its host."],
  ["tool_progress", "A tool is still running."],
  ["tool_use_summary", "The agent summed up what its tools did."],
  ["auth_status", "The agent's CLI reported the state of its login."],
  ["prompt_suggestion", "The agent suggested a next prompt."],
  ["conversation_reset", "The conversation was reset."],
  ["active_goal", "The agent's goal changed."],
  ["keep_alive", "The agent's CLI is alive."],
]);

const limitFacts = (told: JsonObject | undefined) => ({
  type: "rate_limit_event",
  status: asWord(told?.status),
  limit: asWord(told?.rateLimitType),
  ...resetAt(told?.resetsAt),
});

/**
 * Every line names the session. It is recorded when it changes, with the session facet only the first time.
 */
const onSession = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const id = asString(event.session_id) ?? asString(event.sessionId);
  // A failed result without turns repeats a session that could not be resumed, so it is not the session.
  if (event.type === "result" && event.is_error === true && event.num_turns === 0) return state;
  return steps.onSession(state, id, out, sessionFacts(event));
};

/** The facts about the run that only the first line has. */
const sessionFacts = (event: JsonObject) =>
  event.type === "system" && event.subtype === "init"
    ? {
        model: asName(event.model),
        cli_version: asName(event.claude_code_version),
        permission_mode: asName(event.permissionMode),
        tools: asList(event.tools).length,
        mcp_servers: asList(event.mcp_servers).length,
      }
    : undefined;

const onAssistant = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const message = asObject(event.message);
  if (message === undefined) {
    out.push(voice.unknown({ type: "assistant" }));
    return state;
  }
  if (event.is_api_error_message === true || typeof event.error === "string") {
    return onApiError(state, event, out);
  }
  const id = asName(message.id);
  const parent = asName(event.parent_tool_use_id);
  const streamed = id === null ? undefined : state.streamed.find((one) => one.id === id);
  const said = saidIn(id, parent);
  let next = onMessageUsage(state, message);
  let goesOn = false;
  for (const item of asList(message.content)) {
    const block = asObject(item);
    switch (block?.type) {
      case "text":
        if (streamed?.text || typeof block.text !== "string") break;
        out.push(voice.text("assistant", block.text, said));
        if (streamed !== undefined) next = toldWhole(next, streamed);
        break;
      case "thinking":
        if (!streamed?.reasoning && typeof block.thinking === "string" && block.thinking !== "") {
          out.push(voice.text("reasoning", block.thinking, said));
        }
        break;
      case "redacted_thinking":
        out.push(voice.status("The model's reasoning is withheld by the provider.", said));
        break;
      case "tool_use":
      case "server_tool_use":
      case "mcp_tool_use":
        next = onToolUse(next, block, block.type, id, parent, out);
        // The provider runs the other tools itself, within one answer.
        goesOn ||= block.type === "tool_use";
        break;
      default:
        next = onToolResult(next, block, undefined, parent, out);
    }
  }
  if (goesOn) tellSpending(next, out);
  return next;
};

/** A provider error arrives as an artificial answer, whose text is never passed on. */
const onApiError = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const status = asNumber(event.api_error_status) ?? state.retry_status;
  const error = classifyStatus(status) ??
    classifyName(asObject(event.message)?.stop_reason) ??
    classifyName(event.api_error) ??
    classifyName(event.api_error_type) ??
    classifyName(event.error) ?? {
      code: "PROVIDER_ERROR" as const,
      message: "The provider's answer was an error.",
    };
  if (state.reported?.code === error.code) return state;
  const words = asList(asObject(event.message)?.content).map(
    (block) => asString(asObject(block)?.text) ?? "",
  );
  const said = words.join("\n");
  const told = withExpiry(withLimit(state, error, said), said);
  if (state.reported?.code === told.code) return state;
  out.push(voice.error(told));
  return { ...state, reported: told };
};

const onToolUse = (
  state: ClaudeState,
  block: JsonObject,
  kind: string,
  item_id: string | null,
  parent: string | null,
  out: DecodedItem[],
): ClaudeState => {
  const use_id = asName(block.id);
  const name = asName(block.name);
  out.push(
    voice.toolCall({ item_id, thread_id: state.session, kind, name, use_id, parent_tool_use_id: parent }),
  );
  return use_id === null ? state : { ...state, tools: appended(state.tools, [use_id, name], TOOLS_MAX) };
};

const onUser = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const message_id = event.isReplay === true ? messageIdOf(event.uuid) : undefined;
  if (message_id !== undefined) {
    const turn = state.turns_started > state.turns_ended ? state.turns_started : null;
    out.push({ type: "worker_message", payload: { message_id, state: "acknowledged", turn } });
    return state;
  }
  const content = asObject(event.message)?.content;
  const parent = asName(event.parent_tool_use_id);
  if (!Array.isArray(content)) {
    out.push(typeof content === "string" ? userMessage(event) : voice.unknown({ type: "user" }));
    return state;
  }
  let next = state;
  for (const item of content) {
    const block = asObject(item);
    if (block?.type === "text" || block?.type === "image" || block?.type === "document")
      out.push(userMessage(event));
    else next = onToolResult(next, block, asObject(event.tool_use_result), parent, out);
  }
  if (next !== state) tellSpending(next, out);
  return next;
};

/**
 * A user message that the agent did not write: a replayed prompt, a reminder of the CLI, or a notice of an
 * interruption.
 */
const userMessage = (event: JsonObject): DecodedItem =>
  voice.status("A message was given to the agent.", { synthetic: event.isSynthetic === true });

/** Handles `tool_result`, and the `…_tool_result` of a tool that the provider runs. */
const onToolResult = (
  state: ClaudeState,
  block: JsonObject | undefined,
  rich: JsonObject | undefined,
  parent: string | null,
  out: DecodedItem[],
  truncated = false,
): ClaudeState => {
  const type = asString(block?.type);
  if (block === undefined || type === undefined || !type.endsWith("tool_result")) {
    out.push(voice.unknown({ type: "content_block", block: asName(block?.type) }));
    return state;
  }
  const use_id = asName(block.tool_use_id);
  const call = use_id === null ? undefined : state.tools.find(([id]) => id === use_id);
  const failed = block.is_error === true;
  const kind = type === "tool_result" ? "tool_use" : "server_tool_use";
  const tool: ToolFacts = {
    item_id: null,
    thread_id: state.session,
    kind,
    name: call?.[1] ?? null,
    use_id,
    parent_tool_use_id: parent,
  };
  out.push(
    voice.toolResult(tool, {
      truncated,
      failed,
      exit_code: failed ? exitCode(block.content) : null,
      bytes: { stdout: bytes(rich?.stdout), stderr: bytes(rich?.stderr), result: resultBytes(block.content) },
    }),
  );
  return call === undefined ? state : { ...state, tools: state.tools.filter((one) => one !== call) };
};

/** The exit code of a failed shell command is only in its text. */
const exitCode = (content: unknown): number | null => {
  const code = typeof content === "string" ? /^Exit code (\d{1,3})(?:\n|$)/.exec(content)?.[1] : undefined;
  return code === undefined ? null : Number(code);
};

const bytes = (value: unknown): number => (typeof value === "string" ? Buffer.byteLength(value) : 0);

const resultBytes = (content: unknown): number =>
  Array.isArray(content)
    ? content.reduce<number>((sum, part) => sum + bytes(asObject(part)?.text), 0)
    : bytes(content);

export const decode = decoderOf<ClaudeState>(
  voice,
  (state, event, out) => onEvent(onSession(state, event, out), event, out),
  onLong,
);
