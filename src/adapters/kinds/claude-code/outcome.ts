/**
 * The outcome of a Claude Code run: the last `result` if no later turn is open, else the exit.
 */
import type { AgentCompletion } from "../../../protocol/completion.ts";
import type { ExitFacts } from "../../adapter.ts";
import { sessionFacet, voiceOf } from "../../decoding/events.ts";
import { UNANSWERABLE } from "../../decoding/long-requests.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { ClaudeState } from "./state.ts";

const voice = voiceOf("claude_code");

export const finish = (state: ClaudeState, exit: ExitFacts): FinishVerdict => {
  const { result, reported, skipped } = state;
  // A conversation that was ended between two turns needs no further result.
  const wasEnded = exit.input_ended === true && exit.status.code === 0;
  const settled = (result !== null || wasEnded) && state.turns_ended >= state.turns_started;
  const unanswerable = state.unanswerable === true ? UNANSWERABLE : null;
  return byTurnEnd(
    voice,
    {
      settled,
      interactive: state.spoken === "open",
      failed: unanswerable ?? result?.error ?? null,
      reported: unanswerable ?? reported,
      skipped,
    },
    completion(state, exit),
    exit,
  );
};

const completion = (
  { session, result, usage, turns_ended }: ClaudeState,
  { status }: ExitFacts,
): AgentCompletion => {
  const data = {
    ...(session === null ? {} : sessionFacet(session)),
    turns: turns_ended,
    num_turns: result?.num_turns ?? null,
    stop_reason: result?.stop_reason ?? null,
    terminal_reason: result?.terminal_reason ?? null,
    usage: { ...usage },
  };
  return result?.text == null ? { status, data } : { status, final_text: result.text, data };
};
