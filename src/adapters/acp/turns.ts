/** A turn: from when the agent has read a prompt to its answer to that prompt's request. */
import type { WorkerError } from "../../protocol/records.ts";
import { dollars } from "../../protocol/usage.ts";
import type { DecodedItem } from "../adapter.ts";
import { classifyName } from "../classify.ts";
import { CANCELLED, dialogueOf, UNKNOWN_END, withdrawn } from "../dialogue.ts";
import { turnCompleted, voiceOf } from "../events.ts";
import { asObject, asWord, type JsonObject } from "../json.ts";
import { turnBegan } from "../steps.ts";
import { acpUsage, addUsage } from "../usage.ts";
import type { AcpState } from "./state.ts";
import { rpcError, toldError } from "./told-errors.ts";
import { endTools } from "./tools.ts";

const voice = voiceOf("acp");
const dialogue = dialogueOf(voice);

/** Its message is over: what it says next is another one. */
export const ended = (state: AcpState): AcpState =>
  state.said.state === "ended" ? state : { ...state, said: { ...state.said, state: "ended" } };

/** The answer to a mark: the agent has read the prompt that stands behind it. */
export const onMark = (state: AcpState, message_id: string, out: DecodedItem[]): AcpState =>
  state.given === null && state.answered !== message_id ? begun(state, message_id, out) : state;

const begun = (state: AcpState, message_id: string, out: DecodedItem[]): AcpState => ({
  ...turnBegan(state, out),
  given: { message_id, acknowledged: false },
  said: { id: null, text: "", state: "ended" },
  trouble: null,
});

/** The answer to a prompt. */
export const onPromptAnswer = (
  before: AcpState,
  message_id: string,
  answer: JsonObject,
  out: DecodedItem[],
): AcpState => {
  const { given, answered } = before;
  if (answered === message_id || (given !== null && given.message_id !== message_id)) {
    out.push(voice.unknown({ type: "response", reason: "to no prompt that is open" }));
    return before;
  }
  const open = dialogue.working(given === null ? begun(before, message_id, out) : before, out);
  const state = endTools(open, out);
  out.push(...withdrawn(state.asks));
  const result = asObject(answer.result);
  const { tokens, counted } = acpUsage(result);
  const error = result === undefined ? rpcError(asObject(answer.error)) : stopError(state, result, counted);
  if (error !== null) out.push(voice.error(error));
  const { total, counted: before_usd } = state.cost;
  const usage = { ...tokens, cost_usd: total === null ? null : dollars(Math.max(0, total - before_usd)) };
  out.push(turnCompleted(state.turns_started, usage, null, error));
  // A prompt is all that it was started for.
  if (!state.interactive) out.push({ type: "reply", closes: true });
  return {
    ...state,
    given: null,
    asks: [],
    answered: message_id,
    turns_ended: state.turns_started,
    failed: error,
    stop_reason: asWord(result?.stopReason),
    usage: addUsage(state.usage, usage),
    cost: { total, counted: total ?? before_usd },
    trouble: null,
  };
};

const TOO_MANY_REQUESTS = classifyName("error_max_turns")!;
const stopError = (state: AcpState, { stopReason }: JsonObject, counted: boolean): WorkerError | null => {
  switch (stopReason) {
    case "end_turn":
      return toldError(state, counted);
    case "max_turn_requests":
      return TOO_MANY_REQUESTS;
    case "cancelled":
      return CANCELLED;
  }
  // `max_tokens` and `refusal`.
  return classifyName(stopReason) ?? UNKNOWN_END;
};
