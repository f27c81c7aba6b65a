/**
 * The outcome of a Copilot CLI run: its `result`, which a signal may prevent, else the exit (agent-clis.md
 * §5, §11).
 */
import type { ExitFacts } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";
import { completionOf, isSettled } from "../../decoding/headless.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { CopilotState } from "./state.ts";

const voice = voiceOf("copilot");

export const finish = (state: CopilotState, exit: ExitFacts): FinishVerdict => {
  const { failed, reported, skipped } = state;
  const settled = isSettled(state);
  return byTurnEnd(
    voice,
    { settled, failed, reported, skipped },
    completionOf(state, exit, settled && failed === null),
    exit,
  );
};
