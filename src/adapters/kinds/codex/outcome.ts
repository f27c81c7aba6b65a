/** The outcome of a `codex exec` run: `turn.completed` or `turn.failed` if no later turn is open, else the exit. */
import type { AgentCompletion } from "../../../protocol/completion.ts";
import type { ExitFacts } from "../../adapter.ts";
import { sessionFacet, voiceOf } from "../../decoding/events.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { ExecState } from "./state.ts";

const voice = voiceOf("codex");

export const finish = (state: ExecState, exit: ExitFacts): FinishVerdict => {
  const { failed, reported, skipped } = state;
  const settled = state.turns_ended > 0 && state.turns_ended >= state.turns_started;
  const answered = settled && failed === null;
  return byTurnEnd(voice, { settled, failed, reported, skipped }, completion(state, exit, answered), exit);
};

/** The completion, for both ways of running codex. */
export const completion = (
  { thread, turns_ended, usage, text }: Pick<ExecState, "thread" | "turns_ended" | "usage" | "text">,
  { status }: ExitFacts,
  answered: boolean,
): AgentCompletion => {
  const data = { ...(thread === null ? {} : sessionFacet(thread)), turns: turns_ended, usage: { ...usage } };
  return answered && text !== null ? { status, final_text: text, data } : { status, data };
};
