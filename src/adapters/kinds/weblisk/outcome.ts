/** The outcome of a run of the client: its last line if there is one, else its exit. */
import type { ExitFacts } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { RemoteState } from "./state.ts";

const voice = voiceOf("weblisk");

export const finish = (state: RemoteState, exit: ExitFacts): FinishVerdict => {
  const { turns_started, turns_ended, failed, text, skipped } = state;
  const { status } = exit;
  const settled = turns_ended > 0 && turns_ended >= turns_started;
  const completion = settled && failed === null && text !== null ? { status, final_text: text } : { status };
  return byTurnEnd(voice, { settled, failed, reported: null, skipped }, completion, exit);
};
