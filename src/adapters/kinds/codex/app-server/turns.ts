/**
 * A turn: from codex's answer to `turn/start` to its `turn/completed`. The usage of its requests to the
 * provider is summed here.
 */

import { asCount, asName, asObject, type JsonObject } from "../../../../base/json.ts";
import type { Usage, WorkerError } from "../../../../protocol/records.ts";
import type { DecodedItem } from "../../../adapter.ts";
import { CANCELLED, dialogueOf, UNKNOWN_END, withdrawn } from "../../../decoding/dialogue.ts";
import { turnCompleted, voiceOf } from "../../../decoding/events.ts";
import { UNANSWERABLE } from "../../../decoding/long-requests.ts";
import { turnBegan } from "../../../decoding/steps.ts";
import { addUsage, grownBy, NO_USAGE } from "../../../decoding/usage.ts";
import { unanswered } from "./asking.ts";
import { rpcError, turnError } from "./errors.ts";
import { endItems } from "./items.ts";
import type { AppServerState } from "./state.ts";

const voice = voiceOf("codex");
const dialogue = dialogueOf(voice);

const begun = (state: AppServerState, turn: string | null, out: DecodedItem[]): AppServerState => ({
  ...turnBegan(state, out),
  turn,
  text: null,
  turn_usage: NO_USAGE,
});

/** The answer to `turn/start`. */
export const onTurnAnswer = (
  state: AppServerState,
  message_id: string,
  answer: JsonObject,
  out: DecodedItem[],
): AppServerState => {
  if (state.answered === message_id || state.given !== null) {
    out.push(voice.unknown({ type: "response", reason: "to no turn that is open" }));
    return state;
  }
  const given = { message_id, acknowledged: false };
  const result = asObject(answer.result);
  const turn = asName(asObject(result?.turn)?.id);
  // `turn/started` may have come before the answer.
  const open = state.turn !== null && state.turn === turn ? state : begun(state, turn, out);
  if (result !== undefined) return { ...open, given };
  return turnEnded({ ...open, given }, rpcError(asObject(answer.error)), out);
};

/** codex may also begin a turn itself: to compact a thread, or because a background task has ended. */
export const onTurnStarted = (
  state: AppServerState,
  turn: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const id = asName(turn?.id);
  return isOpen(state) ? { ...state, turn: state.turn ?? id } : begun(state, id, out);
};

export const onTurnCompleted = (
  state: AppServerState,
  turn: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const id = asName(turn?.id);
  if (!isOpen(state) || (state.turn !== null && id !== state.turn)) {
    out.push(voice.unknown({ type: "turn/completed", reason: "no such turn is open" }));
    return state;
  }
  return turnEnded(state, endOf(turn!), out);
};

const isOpen = ({ turns_started, turns_ended }: AppServerState): boolean => turns_started > turns_ended;

const endOf = ({ status, error }: JsonObject): WorkerError | null => {
  switch (status) {
    case "completed":
      return null;
    case "failed":
      return turnError(asObject(error));
    case "interrupted":
      return CANCELLED;
  }
  return UNKNOWN_END;
};

const turnEnded = (before: AppServerState, error: WorkerError | null, out: DecodedItem[]): AppServerState => {
  const state = endItems(dialogue.working(before, out), out);
  out.push(...withdrawn(unanswered(state, error === CANCELLED)));
  if (error !== null && state.reported?.code !== error.code) out.push(voice.error(error));
  out.push(turnCompleted(state.turns_started, state.turn_usage, null, error));
  // The agent was started only for this prompt.
  if (!state.interactive) out.push({ type: "reply", closes: true });
  return {
    ...state,
    given: null,
    answered: state.given?.message_id ?? state.answered,
    turn: null,
    turns_ended: state.turns_started,
    asks: [],
    in_pieces: [],
    done: [],
    reported: null,
    failed: error,
    usage: addUsage(state.usage, state.turn_usage),
    turn_usage: NO_USAGE,
  };
};

/** The agent made a request that cannot be answered, so the open turn ends, and its input is closed. */
export const unanswerable = (before: AppServerState, out: DecodedItem[]): AppServerState => {
  const state = dialogue.refused(before, UNANSWERABLE, out);
  return isOpen(state) ? turnEnded({ ...state, reported: UNANSWERABLE }, UNANSWERABLE, out) : state;
};

/** An `error` before the end of its turn. If codex will retry, it does not count as an error. */
export const onError = (
  state: AppServerState,
  params: JsonObject | undefined,
  out: DecodedItem[],
): AppServerState => {
  const told = asObject(params?.error);
  if (params?.willRetry === true) {
    const [, retry, max] = /(\d{1,4})\/(\d{1,4})/.exec(String(told?.message)) ?? [];
    out.push(
      voice.retrying(retry === undefined ? undefined : { retry: Number(retry), max_retries: Number(max) }),
    );
    return state;
  }
  const error = turnError(told);
  if (state.reported?.code === error.code) return state;
  out.push(voice.error(error));
  return { ...state, reported: error };
};

/**
 * `thread/tokenUsage/updated` has the sum of the whole thread, including use before this run, and the usage
 * of the last request. The first update counts only its last request, because the rest may be older. Later
 * updates count the growth of the sum.
 */
export const onUsage = (state: AppServerState, params: JsonObject | undefined): AppServerState => {
  const told = asObject(params?.tokenUsage);
  const total = asObject(told?.total);
  if (total === undefined) return state;
  const thread_usage = threadUsage(total);
  // A reopened thread may report its earlier usage.
  if (state.turn === null || asName(params?.turnId) !== state.turn) return { ...state, thread_usage };
  const grown =
    state.thread_usage === null
      ? threadUsage(asObject(told?.last) ?? {})
      : grownBy(thread_usage, state.thread_usage);
  return { ...state, thread_usage, turn_usage: addUsage(state.turn_usage, grown) };
};

/** A usage sum of codex app-server, which uses other names. */
const threadUsage = (sum: JsonObject): Usage => ({
  input_tokens: asCount(sum.inputTokens),
  output_tokens: asCount(sum.outputTokens),
  cached_tokens: asCount(sum.cachedInputTokens),
  reasoning_tokens: asCount(sum.reasoningOutputTokens),
  cost_usd: null,
});
