/**
 * A conversation with Qwen Code: stream-json on stdin. A message is two lines, a small request with the id of the message and
 * the message itself, because the CLI tells no ids of messages: its answer to the request says that it has read the message,
 * and the turn that begins next is the message's (tested with 0.24.4). It does not know a message again, so the next one is
 * sent only after the turn.
 */
import type { MessageProtocol } from "../../adapter.ts";
import { withoutLineEnd } from "../../decoding/dialogue.ts";
import type { QwenState } from "./state.ts";

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

const request = (request_id: string, subtype: string): string =>
  lineOf({ type: "control_request", request_id, request: { subtype } });

/** The id of the first request, which is no id of a message. */
export const OPENING_ID = "holdfast";

/** The first line: without it, the CLI answers no requests. */
export const OPENING = request(OPENING_ID, "initialize");

export const messages = {
  acknowledges: true,
  one_at_a_time: true,
  frame: (message_id: string, text: string, { turns_started, turns_ended }: QwenState) => {
    if (turns_started > turns_ended) return undefined;
    const message = { role: "user", content: withoutLineEnd(text) };
    const said = lineOf({ type: "user", message, parent_tool_use_id: null, session_id: "" });
    return request(message_id, "supported_commands") + said;
  },
} satisfies MessageProtocol<QwenState>;

/** Denies a permission to use a tool. */
export const denial = (request_id: string): string =>
  lineOf({
    type: "control_response",
    response: {
      subtype: "success",
      request_id,
      response: { behavior: "deny", message: "The permission was denied." },
    },
  });

/** Answers a request that Holdfast does not support. */
export const refusal = (request_id: string): string =>
  lineOf({
    type: "control_response",
    response: { subtype: "error", request_id, error: "This host does not answer such requests." },
  });
