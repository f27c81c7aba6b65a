/**
 * What an agent asks of its client. A request for permission becomes an approval, which the supervisor answers; files and
 * terminals are not offered, so whoever asks for them all the same is refused as the protocol says.
 */
import type { Json } from "../../protocol/records.ts";
import type { DecodedItem } from "../adapter.ts";
import { approvalRequested } from "../approval.ts";
import { voiceOf } from "../events.ts";
import { asList, asName, asObject, type JsonObject } from "../json.ts";
import * as rpc from "./rpc.ts";
import { type AcpState, ASKS_MAX, type Ask, appended } from "./state.ts";
import { onTool } from "./tools.ts";
import { ended, working } from "./turns.ts";

const voice = voiceOf("acp");

export const onRequest = (state: AcpState, request: JsonObject, out: DecodedItem[]): AcpState => {
  const id = rpc.agentsId(request.id);
  if (id === undefined) {
    out.push(voice.unknown({ type: "request", reason: "no usable id" }));
    return state;
  }
  if (request.method === "session/request_permission") return onPermission(state, id, request, out);
  out.push(
    voice.status("The agent asked its client for something that is not offered.", {
      method: asName(request.method),
    }),
    { type: "reply", line: rpc.refuse(id, rpc.METHOD_NOT_FOUND, "Method not found") },
  );
  return state;
};

/** What the answer needs: the options of this request that hold for this one call. */
interface Reply {
  readonly id: rpc.AgentsId;
  readonly allow: string;
  readonly deny: string | null;
}

const onPermission = (
  before: AcpState,
  id: rpc.AgentsId,
  request: JsonObject,
  out: DecodedItem[],
): AcpState => {
  const params = asObject(request.params);
  const call = asObject(params?.toolCall);
  const waiting = ended(working(before, out));
  const state = call === undefined ? waiting : onTool(waiting, call, false, out);
  const deny = optionOf(params, "reject_once");
  const allow = optionOf(params, "allow_once");
  if (allow === null) {
    // All other ways to allow it are for longer than this call, and nobody has decided that.
    out.push(
      voice.status(
        "The agent asked for a permission that cannot be given for one call: it was denied.",
        {},
        "tool",
      ),
      { type: "reply", line: rpc.permission(id, deny) },
    );
    return state;
  }
  const tool_use_id = asName(call?.toolCallId);
  const known = state.tools.find((tool) => tool.id === tool_use_id);
  const reply: Reply = { id, allow, deny };
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
  const ask: Ask = { id, tool: tool_use_id };
  return { ...state, asks: appended(state.asks, ask, ASKS_MAX) };
};

/** Numbers and strings are different ids. */
const keyOf = (id: rpc.AgentsId): string => JSON.stringify(id);

const optionOf = (params: JsonObject | undefined, kind: string): string | null =>
  asName(
    asList(params?.options)
      .map(asObject)
      .find((option) => option?.kind === kind)?.optionId,
  );

/** The line for an answer. */
export const answerOf = (reply: Json, isAllowed: boolean): string => {
  const { id, allow, deny } = reply as unknown as Reply;
  return rpc.permission(id, isAllowed ? allow : deny);
};

/** `$/cancel_request`: the agent takes a request of its own back. */
export const onTakenBack = (state: AcpState, notice: JsonObject, out: DecodedItem[]): AcpState => {
  const id = rpc.agentsId(asObject(notice.params)?.requestId);
  const ask = state.asks.find((one) => one.id === id);
  if (ask === undefined) return state;
  out.push({ type: "approval_withdrawn", payload: { approval_id: keyOf(ask.id) } });
  return { ...state, asks: state.asks.filter((one) => one !== ask) };
};
