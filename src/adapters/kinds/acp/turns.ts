/** A turn: it begins when the agent has read a prompt and ends with the answer to that request. */

import { asObject, asWord, type JsonObject } from "../../../base/json.ts";
import type { ModelUsage, Usage, WorkerError } from "../../../protocol/records.ts";
import { dollars } from "../../../protocol/usage.ts";
import type { DecodedItem } from "../../adapter.ts";
import { classifyName } from "../../decoding/classify.ts";
import { CANCELLED, dialogueOf, UNKNOWN_END, withdrawn } from "../../decoding/dialogue.ts";
import { turnCompleted, voiceOf } from "../../decoding/events.ts";
import { turnBegan } from "../../decoding/steps.ts";
import { addUsage, grownBy, NO_USAGE } from "../../decoding/usage.ts";
import type { AcpState } from "./state.ts";
import { COPILOT, rpcError, toldError } from "./told-errors.ts";
import { endTools } from "./tools.ts";
import { type AcpUsage, acpUsage } from "./usage.ts";

const voice = voiceOf("acp");
const dialogue = dialogueOf(voice);

/** The current message is over, so later text is a new message. */
export const ended = (state: AcpState): AcpState =>
  state.said.state === "ended" ? state : { ...state, said: { ...state.said, state: "ended" } };

/** The answer to a mark: the agent has read the prompt that follows the mark. */
export const onMark = (state: AcpState, message_id: string, out: DecodedItem[]): AcpState =>
  state.given === null && state.answered !== message_id
    ? { ...begun(state, message_id, out), said: NOTHING_SAID, trouble: null }
    : state;

const NOTHING_SAID: AcpState["said"] = { id: null, text: "", state: "ended" };

const begun = (state: AcpState, message_id: string, out: DecodedItem[]): AcpState => ({
  ...turnBegan(state, out),
  turn_usage: NO_USAGE,
  given: { message_id, acknowledged: false },
});

/**
 * Copilot reports the usage of its session so far, other agents that of the turn. An answer without usage
 * changes nothing.
 */
const usageOf = (
  { agent, session_usage, turn_usage = NO_USAGE }: AcpState,
  result: JsonObject | undefined,
): AcpUsage & Pick<AcpState, "session_usage"> => {
  const answered = acpUsage(result);
  const told = hasTokens(answered.usage) ? answered : { ...answered, usage: turn_usage };
  if (agent !== COPILOT || !hasTokens(told.usage))
    return session_usage === undefined ? told : { ...told, session_usage };
  return { usage: grownBy(told.usage, session_usage ?? NO_USAGE), models: [], session_usage: told.usage };
};

const hasTokens = ({ input_tokens, output_tokens }: Usage): boolean => input_tokens + output_tokens > 0;

/**
 * The cost covers the whole turn. With one model it is that model's; with several it cannot be divided, so
 * the models are dropped.
 */
const withCost = (models: readonly ModelUsage[], cost_usd: number | null): readonly ModelUsage[] =>
  cost_usd === null ? models : models.length > 1 ? [] : models.map((one) => ({ ...one, cost_usd }));

/**
 * The answer to a prompt. If the agent does not answer marks, all its output since the last turn belongs to
 * this turn.
 */
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
  const { usage: tokens, models, ...session } = usageOf(state, result);
  const error =
    result === undefined ? rpcError(asObject(answer.error)) : stopError(state, result, hasTokens(tokens));
  if (error !== null) out.push(voice.error(error));
  const { total, counted: before_usd } = state.cost;
  const usage = { ...tokens, cost_usd: total === null ? null : dollars(Math.max(0, total - before_usd)) };
  out.push(turnCompleted(state.turns_started, usage, null, error, withCost(models, usage.cost_usd)));
  // The agent was started only for this prompt.
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
    ...session,
    said: given === null ? ended(state).said : state.said,
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
