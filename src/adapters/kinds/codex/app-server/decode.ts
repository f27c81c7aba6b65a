/**
 * Decodes the stdout of `codex app-server` (0.169.0): answers to our requests, requests of its own, and
 * notifications, one object per line. Every handler takes the state and returns the next one, and pushes
 * records and replies to `out`.
 */

import { asList, asName, asObject, asString, type JsonObject } from "../../../../base/json.ts";
import type { DecodedItem } from "../../../adapter.ts";
import { decoderOf } from "../../../decoding/decoder.ts";
import { dialogueOf } from "../../../decoding/dialogue.ts";
import { voiceOf } from "../../../decoding/events.ts";
import { onLongRequest, onRequest, onResolved } from "./asking.ts";
import { onDelta, onItem, onLongItem, onThoughtPart } from "./items.ts";
import { onInitialized, onList, onThread } from "./opening.ts";
import { answeredBy } from "./rpc.ts";
import type { AppServerState } from "./state.ts";
import { onError, onTurnAnswer, onTurnCompleted, onTurnStarted, onUsage, unanswerable } from "./turns.ts";

const voice = voiceOf("codex");
const dialogue = dialogueOf(voice);

const onMessage = (state: AppServerState, message: JsonObject, out: DecodedItem[]): AppServerState => {
  const { method } = message;
  if (typeof method === "string")
    return message.id === undefined || message.id === null
      ? onNotification(state, method, asObject(message.params), out)
      : onRequest(state, message, out);
  if (message.result !== undefined || message.error !== undefined) return onAnswer(state, message, out);
  out.push(voice.unknown({ type: asName(message.type) }));
  return state;
};

const onAnswer = (state: AppServerState, answer: JsonObject, out: DecodedItem[]): AppServerState => {
  const answered = answeredBy(answer.id);
  switch (answered?.what) {
    case "initialize":
      return onInitialized(state, answer, out);
    case "list":
      return onList(state, answer, out);
    case "thread":
      return onThread(state, answer, out);
    case "turn":
      return onTurnAnswer(state, answered.message_id, answer, out);
    // The end of the turn reports the interruption.
    case "interrupt":
      return state;
  }
  out.push(voice.unknown({ type: "response", reason: "not to a request of ours" }));
  return state;
};

const onNotification = (
  state: AppServerState,
  method: string,
  params: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  if (WARNINGS.has(method)) return onWarning(state, method, out);
  const thread = asString(params?.threadId);
  // Threads of sub-agents are ignored. When our own thread is named first, it is not open yet.
  if (IS_QUIET.test(method) || (thread !== undefined && thread !== state.thread)) return state;
  switch (method) {
    case "turn/started":
      return onTurnStarted(state, asObject(params?.turn), out);
    case "turn/completed":
      return onTurnCompleted(state, asObject(params?.turn), out);
    case "item/started":
      return onItem(dialogue.working(state, out), "started", asObject(params?.item), out);
    case "item/completed":
      return onItem(dialogue.working(state, out), "completed", asObject(params?.item), out);
    case "item/agentMessage/delta":
      return onDelta(state, "assistant", params, out);
    case "item/reasoning/summaryTextDelta":
      return onDelta(state, "reasoning", params, out);
    case "item/reasoning/summaryPartAdded":
      return onThoughtPart(state, params, out);
    case "thread/tokenUsage/updated":
      return onUsage(state, params);
    case "serverRequest/resolved":
      return onResolved(state, params);
    case "error":
      return onError(state, params, out);
    case "turn/plan/updated":
      out.push(voice.status("The agent reported its plan.", { items: asList(params?.plan).length }));
      return state;
  }
  const notice = NOTICES.get(method);
  out.push(
    notice === undefined
      ? voice.unknown({ type: "notification", method: asName(method) })
      : voice.status(notice),
  );
  return state;
};

/**
 * Warnings are not errors. Their text stays in the spool, so each type is recorded only
 * once.
 */
const WARNINGS: ReadonlySet<string> = new Set([
  "warning",
  "configWarning",
  "guardianWarning",
  "deprecationNotice",
  "windows/worldWritableWarning",
]);

const onWarning = (state: AppServerState, method: string, out: DecodedItem[]): AppServerState => {
  if (state.warned.includes(method)) return state;
  out.push(voice.status("The agent's CLI gave a warning.", { type: method }));
  return { ...state, warned: [...state.warned, method] };
};

const NOTICES: ReadonlyMap<string, string> = new Map([
  ["thread/compacted", "The agent compacted the conversation."],
  ["thread/closed", "The agent closed its thread."],
  ["model/rerouted", "The provider answers with another model."],
  ["mcpServer/startupStatus/updated", "An MCP server of the agent changed its state."],
  ["modelProvider/authRecoveryStarted", "The agent's CLI renews its credentials."],
  ["modelProvider/authRecoveryCompleted", "The agent's CLI has renewed its credentials."],
]);

/**
 * Methods without information about the run, or with information that other methods give too: statuses, sums,
 * pieces of outputs, and matters of other clients.
 */
const IS_QUIET =
  /^(?:thread\/(?:started|status|settings|name|goal|queue|project|section|attachment|prediction|readState|archived|unarchived|environment)(?:\/|$)|turn\/(?:diff|moderationMetadata)|item\/(?:commandExecution|fileChange|mcpToolCall|plan|autoApprovalReview)\/|item\/reasoning\/textDelta|rawResponse|account\/|remoteControl\/|hook\/|skills\/|app\/|project\/|fs\/|process\/|command\/exec|model\/(?:verification|safetyBuffering))/;

const onLong = (
  state: AppServerState,
  message: JsonObject,
  out: DecodedItem[],
): AppServerState | undefined => {
  const { method, id } = message;
  if (typeof method !== "string") return undefined;
  const isRequest = id !== undefined || method.endsWith("/requestApproval");
  if (isRequest) return onLongRequest(state, message, out, () => unanswerable(state, out));
  const params = asObject(message.params);
  const thread = asString(params?.threadId);
  if (thread !== undefined && thread !== state.thread) return state;
  const item = asObject(params?.item);
  switch (method) {
    case "turn/completed":
      return undefined;
    case "item/started":
      return onLongItem(state, "started", item, out);
    case "item/completed":
      return item?.type === undefined || item.type === "agentMessage"
        ? { ...state, text: null, skipped: true }
        : onLongItem(state, "completed", item, out);
    default:
      return state;
  }
};

export const decode = decoderOf(voice, onMessage, onLong);
