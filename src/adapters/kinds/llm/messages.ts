/** Messages to the engine, one line each. It keeps their ids in its journal and takes none twice. */
import type { EngineInput } from "../../../protocol/engine-lines.ts";
import type { JsonValue } from "../../../protocol/records.ts";
import type { MessageProtocol, PermissionAnswer } from "../../adapter.ts";
import { withoutLineEnd } from "../../decoding/dialogue.ts";
import type { LlmState } from "./state.ts";

const lineOf = (input: EngineInput): string => `${JSON.stringify(input)}\n`;

export const messages = {
  acknowledges: true,
  one_at_a_time: true,
  frame: (id: string, text: string, { turns_started, turns_ended }: LlmState) =>
    turns_started > turns_ended ? undefined : lineOf({ type: "message", id, text: withoutLineEnd(text) }),
  answer: (reply: JsonValue, { decision, message }: PermissionAnswer) =>
    lineOf({ type: "answer", key: String(reply), decision, ...(message === undefined ? {} : { message }) }),
  interrupt: ({ turns_started, turns_ended }: LlmState) =>
    turns_started > turns_ended ? lineOf({ type: "interrupt" }) : undefined,
} satisfies MessageProtocol<LlmState>;
