/**
 * The outcome of a Copilot CLI run: its `result`, which a signal may prevent, else the exit.
 */
import type { ExitFacts } from "../../adapter.ts";
import { turnCompleted, voiceOf } from "../../decoding/events.ts";
import { completionOf, isSettled } from "../../decoding/headless.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { CopilotState } from "./state.ts";
import { usageIn } from "./usage.ts";

const voice = voiceOf("copilot");

export const finish = (before: CopilotState, exit: ExitFacts): FinishVerdict => {
  const { usage, models } = usageIn(exit.left);
  const { ended, turns_ended } = before;
  const state =
    ended === null
      ? before
      : { ...before, turns_ended: turns_ended + 1, usage, failed: ended.error, reported: null };
  const { failed, reported, skipped } = state;
  const settled = isSettled(state);
  const { outcome, records } = byTurnEnd(
    voice,
    { settled, failed, reported, skipped },
    completionOf(state, exit, settled && failed === null),
    exit,
  );
  const turn =
    ended === null ? [] : [turnCompleted(state.turns_ended, usage, ended.duration_ms, ended.error, models)];
  return { outcome, records: [...turn, ...records] };
};
