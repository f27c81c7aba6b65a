/**
 * Decodes the JSON lines of `codex exec` (docs/reference/adapters.md). It prints whole items, never deltas. A warning
 * is printed as an item of type `error`, but is not an error. A failure is printed twice, as `error` and as
 * `turn.failed`, and recorded once.
 */

import { asCount, asName, asObject, asString, type JsonObject } from "../../../base/json.ts";
import type { Usage, WorkerError } from "../../../protocol/records.ts";
import type { DecodedItem } from "../../adapter.ts";
import { classifyText } from "../../decoding/classify.ts";
import { decoderOf } from "../../decoding/decoder.ts";
import { checkSessionId, OVERSIZE_SESSION, sessionStarted, voiceOf } from "../../decoding/events.ts";
import { stepsOf } from "../../decoding/steps.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import { isItemEvent, onItem, onLongItem } from "./items.ts";
import type { ExecState } from "./state.ts";

const STARTED = "A thread of codex started.";
const voice = voiceOf("codex");
const steps = stepsOf(voice, STARTED);

const onEvent = (state: ExecState, event: JsonObject, out: DecodedItem[]): ExecState => {
  switch (event.type) {
    case "thread.started":
    case "thread.resumed":
      return onThread(state, asString(event.thread_id), out);
    case "turn.started":
      return steps.turnBegan(state, out);
    case "item.started":
    case "item.updated":
    case "item.completed": {
      const item = asObject(event.item);
      if (item !== undefined) return onItem(state, event.type, item, out);
      break;
    }
    case "item.plan.delta":
    case "request_user_input":
      out.push(
        voice.status(event.type === "item.plan.delta" ? "The plan grew." : "The agent asked for input.", {
          type: event.type,
        }),
      );
      return state;
    case "turn.completed":
      return steps.turnEnded(state, codexUsage(asObject(event.usage) ?? {}), null, null, out);
    case "turn.failed": {
      const error = errorOf(asString(asObject(event.error)?.message));
      return steps.turnEnded(steps.onError(state, error, out), NO_USAGE, null, error, out);
    }
    case "error":
      return onErrorLine(state, asString(event.message), out);
  }
  out.push(voice.unknown({ type: asName(event.type) }));
  return state;
};

const onThread = (state: ExecState, id: string | undefined, out: DecodedItem[]): ExecState => {
  const verdict = id === undefined ? "empty" : checkSessionId(id);
  if (id === undefined || verdict !== "ok") {
    out.push(voice.status(verdict === "oversize" ? OVERSIZE_SESSION : "A thread without an id started."));
    return state;
  }
  if (id !== state.thread) out.push(sessionStarted(id));
  if (state.announced) out.push(voice.status(STARTED));
  else out.push(voice.session(STARTED, id));
  return { ...state, thread: id, announced: true };
};

const onErrorLine = (state: ExecState, message: string | undefined, out: DecodedItem[]): ExecState => {
  const retry = /^Reconnecting\.\.\. (\d{1,4})\/(\d{1,4})\b/.exec(message ?? "");
  if (retry === null) return steps.onError(state, errorOf(message), out);
  out.push(voice.retrying({ retry: Number(retry[1]), max_retries: Number(retry[2]) }));
  return state;
};

/** codex reports errors only as text, which is classified and dropped. */
const errorOf = (message: string | undefined): WorkerError =>
  classifyText(message ?? "") ?? { code: "AGENT_FAILED", message: "codex reported an error." };

const onLong = (
  state: ExecState,
  { type, item: told }: JsonObject,
  out: DecodedItem[],
): ExecState | undefined => {
  const item = asObject(told);
  if (!isItemEvent(type) || item?.type === undefined) return undefined;
  if (item.type === "agent_message") return { ...state, text: null, skipped: true };
  return onLongItem(state, type, item, out);
};

export const decode = decoderOf(voice, onEvent, onLong);

/** The usage in one `turn.completed` of codex, which reports no cost. */
const codexUsage = (usage: JsonObject): Usage => ({
  input_tokens: asCount(usage.input_tokens),
  output_tokens: asCount(usage.output_tokens),
  cached_tokens: asCount(usage.cached_input_tokens),
  reasoning_tokens: asCount(usage.reasoning_output_tokens),
  cost_usd: null,
});
