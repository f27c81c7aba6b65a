/**
 * Decodes `result` lines: the end of a turn. `is_error` is right even if the subtype says otherwise: a rate
 * limit has subtype `success`. A run prints several if a background task reports back.
 */

import { asList, asNumber, asString, asWord, type JsonObject } from "../../../base/json.ts";
import type { WorkerError } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { classifyName, classifyStatus, classifyText, withExpiry } from "../../decoding/classify.ts";
import { voiceOf } from "../../decoding/events.ts";
import { keptText } from "../../decoding/final-text.ts";
import { modelRejected } from "../../decoding/rejections.ts";
import { readReset } from "../../decoding/reset-time.ts";
import { turnCounted } from "../../decoding/steps.ts";
import { addUsage } from "../../decoding/usage.ts";
import type { ClaudeState } from "./state.ts";
import { claudeUsage, countedAfter } from "./usage.ts";

const voice = voiceOf("claude_code");

export const onResult = (state: ClaudeState, event: JsonObject, out: DecodedItem[]): ClaudeState => {
  const error = isGood(event) ? null : resultError(state, event);
  const before = { usd: state.spent_usd, tokens: state.spent_tokens };
  const { usage, models } = claudeUsage(event, before, state.model ?? null);
  const counted = countedAfter(event, before);
  // With --json-schema, `result` is what the model said besides its answer.
  const answer = event.structured_output;
  const text = answer === undefined ? asString(event.result) : JSON.stringify(answer);
  const next: ClaudeState = {
    ...state,
    retry_status: 0,
    reported: null,
    usage: addUsage(state.usage, usage),
    spent_usd: counted.usd,
    ...(counted.tokens === undefined ? {} : { spent_tokens: counted.tokens }),
    ...(state.spending == null ? {} : { spending: null }),
    result: {
      error,
      text: error !== null || text === undefined ? null : keptText(text),
      num_turns: asNumber(event.num_turns) ?? null,
      stop_reason: asWord(event.stop_reason),
      terminal_reason: asWord(event.terminal_reason),
    },
  };
  // The run ends with its input. A background task may still ask for permission, and its end begins another
  // turn.
  if (state.spoken === "once" && (state.background ?? 0) === 0) out.push({ type: "reply", closes: true });
  if (error !== null && error.code !== state.reported?.code) out.push(voice.error(error));
  const began = state.turns_started > state.turns_ended;
  // The session was not found, so no turn began.
  if (!began && event.num_turns === 0) return next;
  const duration_ms = asNumber(event.duration_ms) ?? null;
  return turnCounted(next, { usage, duration_ms, error, models }, out);
};

/**
 * A turn succeeded only if the result says so. Some versions name an error in the subtype and not in
 * `is_error`.
 */
const isGood = ({ is_error, subtype }: JsonObject): boolean =>
  is_error === false && !(asString(subtype) ?? "").startsWith("error");

const interruption = (reason: unknown): WorkerError | undefined =>
  reason === "aborted_tools"
    ? { code: "AGENT_FAILED", message: "The agent was interrupted while a tool ran." }
    : reason === "aborted_streaming"
      ? { code: "AGENT_FAILED", message: "The agent was interrupted while it answered." }
      : undefined;

const resultError = (state: ClaudeState, event: JsonObject): WorkerError => {
  const said = asString(event.result) ?? "";
  const error = faultIn(state, event, said);
  return error === state.reported ? error : withExpiry(withLimit(state, error, said), said);
};

/** When the limit resets: from the provider's field, else from the CLI's text. */
export const withLimit = ({ limit }: ClaudeState, error: WorkerError, said: string): WorkerError =>
  error.code === "RATE_LIMITED" ? { ...error, ...(limit ?? readReset(said)) } : error;

/** The only text that it prints when the provider answers 404 for its model. */
const NO_MODEL = /^There's an issue with the selected model \(/;

const faultIn = (state: ClaudeState, event: JsonObject, said: string): WorkerError =>
  classifyName(event.subtype) ??
  (NO_MODEL.test(said) ? modelRejected("claude_code") : undefined) ??
  interruption(event.terminal_reason) ??
  classifyStatus(asNumber(event.api_error_status) ?? 0) ??
  classifyName(event.api_error) ??
  classifyName(event.api_error_type) ??
  // `max_tokens` and `refusal`; the other stop reasons name no error.
  classifyName(event.stop_reason) ??
  state.reported ??
  classifyText(asString(asList(event.errors)[0]) ?? "") ??
  classifyText(said) ?? {
    code: "AGENT_FAILED",
    message: "The agent ended its turn with an error.",
  };
