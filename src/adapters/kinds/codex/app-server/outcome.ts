/**
 * The outcome of a `codex app-server` run: the last turn if no later one is open, else the exit.
 */
import type { ExitFacts } from "../../../adapter.ts";
import { voiceOf } from "../../../decoding/events.ts";
import { byTurnEnd, type FinishVerdict } from "../../../decoding/verdict.ts";
import { completion } from "../outcome.ts";
import type { AppServerState } from "./state.ts";

const voice = voiceOf("codex");

export const finish = (state: AppServerState, exit: ExitFacts): FinishVerdict => {
  const { refused, failed, reported, interactive, turns_ended, turns_started, skipped } = state;
  // A conversation that was ended between two turns needs no further turn.
  const wasEnded = interactive && exit.input_ended === true && exit.status.code === 0;
  const settled = refused !== null || ((turns_ended > 0 || wasEnded) && turns_ended >= turns_started);
  const error = refused ?? failed;
  const known = { settled, interactive: interactive && refused === null, failed: error, reported, skipped };
  return byTurnEnd(voice, known, completion(state, exit, settled && error === null), exit);
};
