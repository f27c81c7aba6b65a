/**
 * Decodes the Agent Client Protocol, version 1, from an agent's stdout: JSON-RPC 2.0, one object per line.
 * Every handler takes the state and returns the next one, and pushes records and replies to `out`.
 */

import { asName, asObject, asString, type JsonObject } from "../../../base/json.ts";
import type { DecodedItem } from "../../adapter.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { voiceOf } from "../../decoding/events.ts";
import { onLongRequest, onRequest, onTakenBack } from "./asking.ts";
import { onInitialized, onMode, onModel, onSession } from "./opening.ts";
import { answeredBy } from "./rpc.ts";
import type { AcpState } from "./state.ts";
import { onMark, onPromptAnswer } from "./turns.ts";
import { onLongUpdate, onUpdate } from "./updates.ts";

const voice = voiceOf("acp");

const onMessage = (state: AcpState, message: JsonObject, out: DecodedItem[]): AcpState => {
  if (typeof message.method === "string")
    return message.id === undefined || message.id === null
      ? onNotification(state, message, out)
      : onRequest(state, message, out);
  if (message.result === undefined && message.error === undefined) {
    out.push(voice.unknown({ type: asName(message.type) }));
    return state;
  }
  return onAnswer(state, message, out);
};

const onNotification = (state: AcpState, notice: JsonObject, out: DecodedItem[]): AcpState => {
  const params = asObject(notice.params);
  const update = asObject(params?.update);
  if (notice.method === "session/update" && update !== undefined)
    // Updates about sessions of sub-agents are ignored.
    return state.session !== null && params?.sessionId !== state.session
      ? state
      : onUpdate(state, update, out);
  if (notice.method === "$/cancel_request") return onTakenBack(state, notice, out);
  out.push(voice.unknown({ type: "notification", method: asName(notice.method) }));
  return state;
};

const onAnswer = (state: AcpState, answer: JsonObject, out: DecodedItem[]): AcpState => {
  const answered = answeredBy(answer.id);
  switch (answered?.what) {
    case "initialize":
      return onInitialized(state, answer, out);
    case "session":
      return onSession(state, answer, out);
    case "mode":
      return onMode(state, answer, out);
    case "model":
      return onModel(state, answer, out);
    case "mark":
      return onMark(state, answered.message_id, out);
    case "prompt":
      return onPromptAnswer(state, answered.message_id, answer, out);
  }
  if (answer.id === null) out.push(voice.status("The agent could not read a line that it was sent."));
  else out.push(voice.unknown({ type: "response", reason: "not to a request of ours" }));
  return state;
};

const onLong = (state: AcpState, message: JsonObject, out: DecodedItem[]): AcpState | undefined => {
  const { method } = message;
  if (method !== "session/update")
    return typeof method === "string" ? onLongRequest(state, message, out) : undefined;
  const params = asObject(message.params);
  const update = asObject(params?.update);
  const session = asString(params?.sessionId);
  if (session !== undefined && session !== state.session) return state;
  return onLongUpdate(state, update ?? {}, out);
};

export const decode = decoderOf(voice, onMessage, onLong);
