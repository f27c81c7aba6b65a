/**
 * Decodes the JSON lines of `opencode run` (docs/reference/adapters.md). It prints only whole parts, and nothing before
 * the model's first answer. A tool is printed when it has ended, so its call and its result come from one
 * line. A run has no final event: the reason of the last step says whether the turn is over.
 */

import {
  asCount,
  asName,
  asNumber,
  asObject,
  asString,
  asWord,
  bytesOf,
  type JsonObject,
} from "../../../base/json.ts";
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { classifyName, classifyStatus, classifyText } from "../../decoding/classify.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { type ToolFacts, voiceOf } from "../../decoding/events.ts";
import { NO_ANSWER } from "../../decoding/final-text.ts";
import { stepsOf } from "../../decoding/steps.ts";
import { addUsage, asDollars, NO_USAGE } from "../../decoding/usage.ts";
import type { OpencodeState } from "./state.ts";

const voice = voiceOf("opencode");
const steps = stepsOf(voice, "A session of OpenCode started.");

const onEvent = (before: OpencodeState, event: JsonObject, out: DecodedItem[]): OpencodeState => {
  const state = steps.onSession(before, asString(event.sessionID), out);
  const part = asObject(event.part) ?? {};
  switch (event.type) {
    case "step_start":
      return begun(state, out);
    case "text":
      return steps.onText(begun(state, out), messageOf(part), asString(part.text) ?? "", out);
    case "reasoning":
      return onReasoning(state, part, out);
    case "tool_use":
      return onTool(begun(state, out), part, out);
    case "step_finish":
      return onStepEnd(begun(state, out), part, out);
    case "error": {
      const error = errorOf(asObject(event.error));
      // An error after the end of a turn is not a turn of its own. It repeats the error of a failed turn.
      if (state.turns_ended > 0 && state.turns_ended === state.turns_started)
        return state.failed !== null ? state : { ...steps.onError(state, error, out), failed: error };
      return ended(steps.onError(state, error, out), error, out);
    }
  }
  out.push(voice.unknown({ type: asName(event.type) }));
  return state;
};

const onLong = (before: OpencodeState, event: JsonObject, out: DecodedItem[]): OpencodeState | undefined => {
  switch (event.type) {
    case "tool_use":
      return onTool(begun(before, out), asObject(event.part) ?? {}, out, true);
    case "reasoning":
      return before;
    case "text":
      return { ...before, answer: { id: null, ...NO_ANSWER }, skipped: true };
    default:
      return undefined;
  }
};

export const decode = decoderOf(voice, onEvent, onLong);

/** A turn has many steps; the first begins it. */
const begun = (state: OpencodeState, out: DecodedItem[]): OpencodeState =>
  state.turns_started > state.turns_ended ? state : steps.turnBegan(state, out);

const ended = (state: OpencodeState, error: WorkerError | null, out: DecodedItem[]): OpencodeState => ({
  ...steps.turnEnded(state, state.spent, null, error, out),
  spent: NO_USAGE,
});

const messageOf = (part: JsonObject): string => asName(part.messageID) ?? asName(part.id) ?? "message";

const onReasoning = (state: OpencodeState, part: JsonObject, out: DecodedItem[]): OpencodeState => {
  const text = asString(part.text) ?? "";
  if (text !== "") out.push(voice.text("reasoning", text, { message_id: messageOf(part) }));
  return state;
};

const onTool = (
  state: OpencodeState,
  part: JsonObject,
  out: DecodedItem[],
  truncated = false,
): OpencodeState => {
  const how = asObject(part.state) ?? {};
  const tool: ToolFacts = {
    item_id: asName(part.id),
    thread_id: asName(state.session),
    kind: "tool_use",
    name: asName(part.tool),
    use_id: asName(part.callID),
  };
  const exit = asNumber(asObject(how.metadata)?.exit);
  const exit_code = exit === undefined ? null : Math.trunc(exit);
  // A call of an unknown tool is reported as a success of the tool `invalid`.
  const failed =
    (how.status !== "completed" && !truncated) || tool.name === "invalid" || (exit_code ?? 0) !== 0;
  const end = { truncated, failed, exit_code, bytes: { result: bytesOf(how.output) } };
  const next = steps.onResult(steps.onCall(state, tool, out), tool, end, out);
  if (how.status !== "error" || !DENIED.test(asString(how.error) ?? "")) return next;
  out.push(voice.denied({ tool_name: tool.name, tool_use_id: tool.use_id }));
  return { ...next, denied: true };
};

const DENIED = /^The user rejected permission\b/;

const onStepEnd = (before: OpencodeState, part: JsonObject, out: DecodedItem[]): OpencodeState => {
  const state = { ...before, spent: addUsage(before.spent, opencodeUsage(part)) };
  // The model gets the results of its tools in the next step.
  if (part.reason === "tool-calls") {
    out.push({ type: "turn_usage", usage: state.spent });
    return state;
  }
  const error = REASONS[asWord(part.reason) ?? ""];
  if (part.reason === "stop") return ended(state, null, out);
  const fault: WorkerError = error ?? {
    code: "AGENT_FAILED",
    message: "The model stopped before its answer was complete.",
  };
  return ended(steps.onError(state, fault, out), fault, out);
};

const REASONS: Readonly<Record<string, WorkerError | undefined>> = {
  length: classifyName("max_output_tokens"),
  "content-filter": classifyName("refusal"),
};

const errorOf = (error: JsonObject | undefined): WorkerError => {
  const data = asObject(error?.data);
  return (
    classifyStatus(asNumber(data?.statusCode) ?? 0) ??
    classifyName(error?.name) ??
    classifyText(asString(data?.message) ?? "") ?? {
      code: "AGENT_FAILED",
      message: "OpenCode reported an error.",
    }
  );
};

/** The usage of one step of OpenCode, which counts cached tokens separately from `input`. */
const opencodeUsage = (step: JsonObject): Usage => {
  const tokens = asObject(step.tokens) ?? {};
  return {
    input_tokens: asCount(tokens.input),
    output_tokens: asCount(tokens.output),
    cached_tokens: asCount(asObject(tokens.cache)?.read),
    reasoning_tokens: asCount(tokens.reasoning),
    cost_usd: asDollars(step.cost) ?? null,
  };
};
