/** The outcome of a run of the engine: the last turn if no later one is open, else the exit. */
import type { ExitFacts } from "../../adapter.ts";
import { sessionFacet, voiceOf } from "../../decoding/events.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { LlmState } from "./state.ts";

const voice = voiceOf("llm");

export const finish = (state: LlmState, exit: ExitFacts): FinishVerdict => {
  const { refused, failed, interactive, turns_started, turns_ended, session, usage, text, skipped } = state;
  // A conversation that was ended between two turns needs no further turn.
  const wasEnded = interactive && exit.input_ended === true && exit.status.code === 0;
  const settled = refused !== null || ((turns_ended > 0 || wasEnded) && turns_ended >= turns_started);
  const error = refused ?? failed;
  const data = {
    ...(session === null ? {} : sessionFacet(session)),
    turns: turns_ended,
    usage: { ...usage },
  };
  const { status } = exit;
  const completion =
    settled && error === null && text !== null ? { status, final_text: text, data } : { status, data };
  const known = {
    settled,
    interactive: interactive && refused === null,
    failed: error,
    reported: null,
    skipped,
  };
  return byTurnEnd(voice, known, completion, exit);
};
