/**
 * Partial messages (--include-partial-messages): deltas are recorded at once, and the whole message later
 * does not repeat their text. Versions differ in how a delta names its message, so the message that started
 * last is used.
 */

import { appended } from "../../../base/bounded-list.ts";
import { asName, asObject, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { type EventFacts, voiceOf } from "../../decoding/events.ts";
import { onMessageUsage } from "./spending.ts";
import { type ClaudeState, STREAMED_MAX, type StreamedMessage } from "./state.ts";

const voice = voiceOf("claude_code");

/** The message of a text, and the call of the sub-agent that wrote it. */
export const saidIn = (message_id: string | null, parent: string | null): EventFacts =>
  parent === null ? { message_id } : { message_id, parent_tool_use_id: parent };

export const onStreamEvent = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const inner = asObject(event.event);
  const parent = asName(event.parent_tool_use_id) ?? "";
  switch (inner?.type) {
    case "message_start": {
      const id = asName(asObject(inner.message)?.id);
      if (id === null || state.streamed.some((one) => one.id === id && one.parent === parent)) return state;
      return {
        ...state,
        streamed: appended(state.streamed, { id, parent, text: false, reasoning: false }, STREAMED_MAX),
      };
    }
    case "content_block_delta":
      return onDelta(state, asObject(inner.delta), parent, out);
    case "message_delta":
      return onMessageUsage(state, {
        id: state.streamed.findLast((one) => one.parent === parent)?.id,
        usage: inner.usage,
      });
    // The rest only frames deltas and whole messages. An `assistant` line repeats an error.
    case "content_block_start":
    case "content_block_stop":
    case "message_stop":
    case "ping":
    case "error":
      return state;
  }
  out.push(voice.unknown({ type: "stream_event", event: asName(inner?.type) }));
  return state;
};

const onDelta = (
  state: ClaudeState,
  delta: JsonObject | undefined,
  parent: string,
  out: DecodedItem[],
): ClaudeState => {
  const channel =
    delta?.type === "text_delta" ? "assistant" : delta?.type === "thinking_delta" ? "reasoning" : undefined;
  if (channel === undefined) {
    if (!FRAMING_DELTAS.has(delta?.type))
      out.push(voice.unknown({ type: "stream_event", delta: asName(delta?.type) }));
    return state;
  }
  const text = channel === "assistant" ? delta?.text : delta?.thinking;
  if (typeof text !== "string" || text === "") return state;
  const open = state.streamed.findLast((one) => one.parent === parent);
  // The stream began before our state did: the whole message will bring the text.
  if (open === undefined || open.whole === true) return state;
  out.push(voice.text(channel, text, saidIn(open.id, parent === "" ? null : parent)));
  const seen: StreamedMessage =
    channel === "assistant" ? { ...open, text: true } : { ...open, reasoning: true };
  if (seen.text === open.text && seen.reasoning === open.reasoning) return state;
  return { ...state, streamed: state.streamed.map((one) => (one === open ? seen : one)) };
};

/**
 * Once a message has been recorded whole, late deltas of it are ignored, because they would repeat its text.
 */
export const toldWhole = (state: ClaudeState, message: StreamedMessage): ClaudeState => ({
  ...state,
  streamed: state.streamed.map((one) => (one.id === message.id ? { ...one, whole: true } : one)),
});

/** Parts of a call's input or of a signature, which arrive whole later. */
const FRAMING_DELTAS: ReadonlySet<unknown> = new Set([
  "input_json_delta",
  "signature_delta",
  "citations_delta",
]);
