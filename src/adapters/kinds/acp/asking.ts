/**
 * An agent's requests to its client. A permission request becomes an approval, which the supervisor answers.
 * Files and terminals are not offered, so requests for them are refused as the protocol says.
 */

import { appended } from "../../../base/bounded-list.ts";
import { asList, asName, asObject, type JsonObject } from "../../../base/json.ts";
import type { JsonValue } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { approvalRequested } from "../../approval.ts";
import {
  dialogueOf,
  INVALID_REQUEST,
  keyOf,
  METHOD_NOT_FOUND,
  type RequestId,
  requestId,
  withdrawn,
} from "../../decoding/dialogue.ts";
import { turnCompleted, voiceOf } from "../../decoding/events.ts";
import { TOO_LONG, tooLongToRead, UNANSWERABLE } from "../../decoding/long-requests.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import * as rpc from "./rpc.ts";
import { type AcpPermissionRequest, type AcpState, ASKS_MAX } from "./state.ts";
import { onTool } from "./tools.ts";
import { ended } from "./turns.ts";

const voice = voiceOf("acp");
const dialogue = dialogueOf(voice);

export const onRequest = (state: AcpState, request: JsonObject, out: DecodedItem[]): AcpState => {
  const id = requestId(request.id);
  if (id === undefined) {
    out.push(voice.unknown({ type: "request", reason: "no usable id" }));
    return state;
  }
  if (request.method === "session/request_permission") return onPermission(state, id, request, out);
  out.push(...dialogue.notOffered(request.method, rpc.refuse(id, METHOD_NOT_FOUND, "Method not found")));
  return state;
};

/** The data for the answer: the options of this request that apply to this one call. */
interface ReplyOptions {
  readonly id: RequestId;
  readonly allow: string;
  readonly deny: string | null;
}

const onPermission = (before: AcpState, id: RequestId, request: JsonObject, out: DecodedItem[]): AcpState => {
  const params = asObject(request.params);
  const call = asObject(params?.toolCall);
  const waiting = ended(dialogue.working(before, out));
  const state = call === undefined ? waiting : onTool(waiting, call, false, out);
  const deny = optionOf(params, "reject_once");
  const allow = optionOf(params, "allow_once");
  if (allow === null) {
    // All other options would allow it for longer than this call.
    out.push(...dialogue.deniedAtOnce(rpc.permission(id, deny)));
    return state;
  }
  const tool_use_id = asName(call?.toolCallId);
  const known = state.tools.find((tool) => tool.id === tool_use_id);
  const reply: ReplyOptions = { id, allow, deny };
  out.push(
    approvalRequested({
      key: keyOf(id),
      tool: known?.name ?? call?.name ?? call?.kind,
      tool_use_id,
      title: call?.title,
      input: call?.rawInput,
      reply: { ...reply },
    }),
  );
  const ask: AcpPermissionRequest = { id, tool: tool_use_id };
  return { ...state, asks: appended(state.asks, ask, ASKS_MAX) };
};

/** Handles a request that was too long to read. */
export const onLongRequest = (
  state: AcpState,
  { id: given, method }: JsonObject,
  out: DecodedItem[],
): AcpState => {
  const id = requestId(given);
  const isPermission = method === "session/request_permission";
  if (id !== undefined && typeof method === "string") {
    const line = isPermission ? rpc.permission(id, null) : rpc.refuse(id, INVALID_REQUEST, TOO_LONG);
    out.push(...tooLongToRead(voice, line));
    return state;
  }
  return isPermission ? unanswerable(state, out) : state;
};

/** The open turn ends too. An agent that ignores the end of its input is ended later. */
const unanswerable = (before: AcpState, out: DecodedItem[]): AcpState => {
  const state = dialogue.refused(before, UNANSWERABLE, out);
  if (state.turns_ended === state.turns_started) return state;
  out.push(...withdrawn(state.asks), turnCompleted(state.turns_started, NO_USAGE, null, UNANSWERABLE));
  return { ...state, given: null, asks: [], turns_ended: state.turns_started, failed: UNANSWERABLE };
};

const optionOf = (params: JsonObject | undefined, kind: string): string | null =>
  asName(
    asList(params?.options)
      .map(asObject)
      .find((option) => option?.kind === kind)?.optionId,
  );

/** The line that answers a permission request. */
export const answerOf = (reply: JsonValue, isAllowed: boolean): string => {
  const { id, allow, deny } = reply as unknown as ReplyOptions;
  return rpc.permission(id, isAllowed ? allow : deny);
};

/** `$/cancel_request`: the agent withdraws one of its requests. */
export const onTakenBack = (state: AcpState, notice: JsonObject, out: DecodedItem[]): AcpState => {
  const id = requestId(asObject(notice.params)?.requestId);
  const ask = state.asks.find((one) => one.id === id);
  if (ask === undefined) return state;
  out.push(...withdrawn([ask]));
  return { ...state, asks: state.asks.filter((one) => one !== ask) };
};
