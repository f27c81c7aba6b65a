/**
 * Partial messages (--include-partial-messages): text goes out at once, and what came so is dropped when the whole
 * message comes. Versions differ in what they say of a delta's message, so the last one that started is taken.
 */

import { appended } from "../../../base/bounded-list.ts";
import { asName, asObject, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { type EventFacts, voiceOf } from "../../decoding/events.ts";
import { onMessageUsage } from "./spending.ts";
import { type ClaudeState, STREAMED_MAX, type StreamedMessage } from "./state.ts";

const voice = voiceOf("claude_code");

/** The message that a text is part of, and the call of the sub-agent that wrote it. */
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
    // The rest frames what the deltas and the whole messages say; an error is told again by an `assistant` line.
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
  // A stream that began before our memory: the whole message will bring the text.
  if (open === undefined || open.whole === true) return state;
  out.push(voice.text(channel, text, saidIn(open.id, parent === "" ? null : parent)));
  const seen: StreamedMessage =
    channel === "assistant" ? { ...open, text: true } : { ...open, reasoning: true };
  if (seen.text === open.text && seen.reasoning === open.reasoning) return state;
  return { ...state, streamed: state.streamed.map((one) => (one === open ? seen : one)) };
};

/** A message whose text was told whole goes on whole: deltas that come late would tell it again. */
export const toldWhole = (state: ClaudeState, message: StreamedMessage): ClaudeState => ({
  ...state,
  streamed: state.streamed.map((one) => (one.id === message.id ? { ...one, whole: true } : one)),
});

/** Parts of a call's input and of a signature: what they build comes whole. */
const FRAMING_DELTAS: ReadonlySet<unknown> = new Set([
  "input_json_delta",
  "signature_delta",
  "citations_delta",
]);
