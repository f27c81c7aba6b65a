/**
 * The outcome of an ACP run: the last answer to a prompt if no later turn is open, else the exit.
 */
import type { AgentCompletion } from "../../../protocol/completion.ts";
import type { ExitFacts } from "../../adapter.ts";
import { sessionFacet, voiceOf } from "../../decoding/events.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { AcpState } from "./state.ts";

const voice = voiceOf("acp");

export const finish = (state: AcpState, exit: ExitFacts): FinishVerdict => {
  const { refused, failed, interactive, turns_ended, turns_started, skipped } = state;
  // A conversation that was ended between two turns needs no further answer.
  const wasEnded = interactive && exit.input_ended === true && exit.status.code === 0;
  const settled = refused !== null || ((turns_ended > 0 || wasEnded) && turns_ended >= turns_started);
  const error = refused ?? failed;
  const known = {
    settled,
    interactive: interactive && refused === null,
    failed: error,
    reported: null,
    skipped,
  };
  return byTurnEnd(voice, known, completion(state, exit, settled && error === null), exit);
};

const completion = (
  { session, agent, said, turns_ended, stop_reason, usage }: AcpState,
  { status }: ExitFacts,
  answered: boolean,
): AgentCompletion => {
  const data = {
    ...(session === null ? {} : sessionFacet(session)),
    agent,
    turns: turns_ended,
    stop_reason,
    usage: { ...usage },
  };
  return answered && said.text !== "" ? { status, final_text: said.text, data } : { status, data };
};
