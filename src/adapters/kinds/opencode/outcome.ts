/**
 * The outcome of an OpenCode run: success with exit code 0 and a last step that stopped,
 * else its error.
 */
import type { WorkerError } from "../../../protocol/records.ts";
import type { ExitFacts } from "../../adapter.ts";
import { voiceOf } from "../../decoding/events.ts";
import { completionOf, isSettled } from "../../decoding/headless.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import type { OpencodeState } from "./state.ts";

const voice = voiceOf("opencode");

const DENIED: WorkerError = {
  code: "PERMISSION_DENIED",
  message: "A tool was denied permission, and the agent stopped.",
};

export const finish = (state: OpencodeState, exit: ExitFacts): FinishVerdict => {
  const { failed, reported, skipped } = state;
  // A successful turn is not the end of the run.
  const settled = isSettled(state) && (failed !== null || exit.status.code === 0);
  const meaning = state.denied ? DENIED : undefined;
  const known = { settled, failed, reported, skipped, meaning };
  return byTurnEnd(voice, known, completionOf(state, exit, settled && failed === null), exit);
};
