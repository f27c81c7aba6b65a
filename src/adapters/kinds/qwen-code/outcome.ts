/** The outcome of a Qwen Code run: its `result`, else the exit. */
import type { WorkerError } from "../../../protocol/records.ts";
import type { ExitFacts } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";
import { completionOf, isSettled } from "../../decoding/headless.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import { errorOf } from "./errors.ts";
import type { QwenState } from "./state.ts";

const voice = voiceOf("qwen_code");

/** Its own exit codes. Code 42, an unusable input, is too vague to be listed. */
const CODES: Readonly<Record<number, WorkerError>> = {
  52: { code: "INVALID_REQUEST", message: "The agent's CLI did not accept its settings." },
  53: { code: "MAX_TURNS", message: "The agent used all the turns that it was allowed." },
  55: { code: "BUDGET_EXCEEDED", message: "The agent used all the time or tool calls that it was allowed." },
};

export const finish = (state: QwenState, exit: ExitFacts): FinishVerdict => {
  const { failed, skipped, held } = state;
  const { code, signal } = exit.status;
  // A conversation that was ended before its first turn needs no result.
  const wasEnded = exit.input_ended === true && code === 0 && state.turns_started === state.turns_ended;
  const settled = isSettled(state) || wasEnded;
  const reported = state.reported ?? (held === null ? null : errorOf(held.text));
  const meaning = code === null || signal !== null ? undefined : CODES[code];
  const completion = completionOf(state, exit, settled && failed === null);
  return byTurnEnd(
    voice,
    { settled, interactive: state.spoken === true, failed, reported, skipped, meaning },
    completion,
    exit,
  );
};
