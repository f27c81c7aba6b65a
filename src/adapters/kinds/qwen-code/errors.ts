/**
 * The errors of Qwen Code. It prints an error of its provider as the end of an answer, `[API Error: …]`, and
 * again in its `result`. The text is classified and dropped.
 */
import type { WorkerError } from "../../../protocol/records.ts";
import { classifyStatus, classifyText } from "../../decoding/classify.ts";
import { HELD_MAX_UNITS } from "./state.ts";

const TOLD = /\[API Error: [\s\S]*\]$/;
const STATUS = /^\[API Error: (\d{3})\b/;

const UNNAMED: WorkerError = { code: "AGENT_FAILED", message: "Qwen Code reported an error." };
const PROVIDER: WorkerError = {
  code: "PROVIDER_ERROR",
  message: "The provider failed or did not answer.",
};

/** The text up to what may be an error of the CLI, and that error. */
export const parted = (text: string): readonly [said: string, error: string] => {
  const found = TOLD.exec(text.slice(-HELD_MAX_UNITS));
  return found === null ? [text, ""] : [text.slice(0, -found[0].length), found[0]];
};

export const errorOf = (text: string): WorkerError =>
  classifyStatus(Number(STATUS.exec(text)?.[1] ?? 0)) ??
  classifyText(text) ??
  (text.startsWith("[API Error:") ? PROVIDER : UNNAMED);
