/**
 * A message to Claude Code is one line of stream-json. Its `uuid` is our message id. The CLI prints the line
 * again with that uuid (`--replay-user-messages`) once it is in the conversation, and ignores a uuid that its
 * session already has, also after `--resume` (tested with 2.1.329, after SIGKILL too).
 */
import { bitsOf, ulidOfBits } from "../../../protocol/ids.ts";
import type { JsonValue } from "../../../protocol/records.ts";
import type { MessageProtocol, PermissionAnswer } from "../../adapter.ts";
import { withoutLineEnd } from "../../decoding/dialogue.ts";
import type { ClaudeState } from "./state.ts";

export const messages = {
  acknowledges: true,
  asks_beyond_turn: true,
  frame: (message_id: string, text: string): string => {
    const content = [{ type: "text", text: withoutLineEnd(text) }];
    const line = { type: "user", uuid: uuidOf(message_id), message: { role: "user", content } };
    return `${JSON.stringify({ ...line, parent_tool_use_id: null, session_id: "" })}\n`;
  },
  /** Without an input in the answer, the CLI uses its own (tested with 2.1.329). */
  answer: (request_id: JsonValue, { decision, message }: PermissionAnswer): string =>
    response(
      String(request_id),
      decision === "allow"
        ? { behavior: "allow" }
        : { behavior: "deny", message: message ?? "The permission was denied." },
    ),
  interrupt: ({ turns_started, turns_ended }: ClaudeState): string | undefined =>
    turns_started > turns_ended
      ? lineOf({
          type: "control_request",
          request_id: `interrupt-${turns_started}`,
          request: { subtype: "interrupt" },
        })
      : undefined,
} satisfies MessageProtocol<ClaudeState>;

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

const response = (request_id: string, answer: object): string =>
  lineOf({ type: "control_response", response: { subtype: "success", request_id, response: answer } });

/** Answers a request that Holdfast does not support. */
export const refusal = (request_id: string, error = "This host does not answer such requests."): string =>
  lineOf({ type: "control_response", response: { subtype: "error", request_id, error } });

const UUID_HEX = 32;

/** A ULID and a UUID both have 128 bits. */
const uuidOf = (ulid: string): string =>
  bitsOf(ulid)
    .toString(16)
    .padStart(UUID_HEX, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Undefined if it is not a uuid. A uuid that the CLI made itself gives an id that no message of ours has. */
export const messageIdOf = (uuid: unknown): string | undefined =>
  typeof uuid === "string" && UUID.test(uuid)
    ? ulidOfBits(BigInt(`0x${uuid.replaceAll("-", "")}`))
    : undefined;
