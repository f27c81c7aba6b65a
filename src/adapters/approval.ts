/** A permission request as decoders report it, with every member bounded. */

import { asName } from "../base/json.ts";
import { APPROVAL_INPUT_MAX_BYTES, APPROVAL_TITLE_MAX_BYTES } from "../base/limits.ts";
import { truncateMessage } from "../protocol/bounds.ts";
import type { JsonValue } from "../protocol/records.ts";
import type { DecodedRecord } from "./adapter.ts";

export interface PermissionAsked {
  /** The agent's own id of the request, unique within its run. */
  readonly key: string;
  readonly tool: unknown;
  readonly tool_use_id: unknown;
  /** The agent's own description of what it wants to do. */
  readonly title: unknown;
  readonly input: unknown;
  /** Small data that the answer needs. */
  readonly reply: JsonValue;
}

export const approvalRequested = (asked: PermissionAsked): DecodedRecord => ({
  type: "approval_requested",
  payload: {
    approval_id: asked.key,
    tool: asName(asked.tool),
    tool_use_id: asName(asked.tool_use_id),
    title: typeof asked.title === "string" ? truncateMessage(asked.title, APPROVAL_TITLE_MAX_BYTES) : "",
    input: boundedInput(asked.input),
    reply: asked.reply,
  },
});

const boundedInput = (input: unknown): JsonValue => {
  const json = JSON.stringify(input ?? null);
  return Buffer.byteLength(json) <= APPROVAL_INPUT_MAX_BYTES ? JSON.parse(json) : null;
};
