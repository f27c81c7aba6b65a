/** The outcome of a Gemini CLI run: `result.status`, else the exit. */
import type { WorkerError } from "../../../protocol/records.ts";
import type { ExitFacts } from "../../adapter.ts";
import { classifyName, classifyStatus } from "../../decoding/classify.ts";
import { voiceOf } from "../../decoding/events.ts";
import { completionOf, isSettled } from "../../decoding/headless.ts";
import { byTurnEnd, type FinishVerdict } from "../../decoding/verdict.ts";
import { isUnnamed } from "./decode.ts";
import type { GeminiState } from "./state.ts";

const voice = voiceOf("gemini_cli");

/** Its own exit codes. Code 42, an unusable input, is too vague to be listed. */
const CODES: Readonly<Record<number, WorkerError>> = {
  41: { code: "TOKEN_MISSING", message: "The agent's CLI has no valid credentials." },
  52: { code: "INVALID_REQUEST", message: "The agent's CLI did not accept its settings." },
  53: { code: "MAX_TURNS", message: "The agent used all the turns that it was allowed." },
  55: { code: "PERMISSION_DENIED", message: "The agent's CLI does not trust its working directory." },
};

const EXIT_CODES = 256;

/** The CLI exits with an HTTP status modulo 256: 401 becomes 145. */
const meaningOf = ({ code, signal }: ExitFacts["status"]): WorkerError | undefined =>
  code === null || signal !== null ? undefined : (CODES[code] ?? classifyStatus(code + EXIT_CODES));

/**
 * A 404 has no exit code of its own and its text is the provider's, so only the name of the CLI's error
 * reveals it.
 */
const namedOn = (stderr: string): WorkerError | undefined =>
  /\bModelNotFoundError: /.test(stderr) ? classifyName("model_not_found") : undefined;

export const finish = (state: GeminiState, exit: ExitFacts): FinishVerdict => {
  const { reported, skipped } = state;
  const settled = isSettled(state);
  const meaning = meaningOf(exit.status) ?? namedOn(exit.stderr_tail);
  const failed = state.failed !== null && isUnnamed(state.failed) ? (meaning ?? state.failed) : state.failed;
  const known = { settled, failed, reported, skipped, meaning };
  return byTurnEnd(voice, known, completionOf(state, exit, settled && failed === null), exit);
};
