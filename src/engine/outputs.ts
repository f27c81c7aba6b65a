/** Outputs of tools as the model gets them: bounded, and typed where there is none. */
import { ENGINE_OUTPUT_MAX_BYTES } from "../base/limits.ts";
import { cutUtf8 } from "../protocol/bounds.ts";
import type { JsonValue } from "../protocol/records.ts";
import { CALL_CANCELLED, CALL_DENIED, OUTCOME_UNKNOWN } from "./entries.ts";
import type { ToolResult } from "./tools.ts";

/** The output, or its beginning as text with a note. */
export const cutOutput = (output: JsonValue): JsonValue => {
  const json = JSON.stringify(output);
  const bytes = Buffer.byteLength(json);
  if (bytes <= ENGINE_OUTPUT_MAX_BYTES) return output;
  const text = typeof output === "string" ? output : json;
  return `${cutUtf8(text, ENGINE_OUTPUT_MAX_BYTES)}\n[The output has ${bytes} bytes; only its beginning is shown.]`;
};

/** The typed answer about a call that a crash cut off. */
export const UNKNOWN_OUTCOME: ToolResult = {
  output: {
    outcome: "unknown",
    message:
      "The agent was interrupted while this tool ran, and nobody knows whether it had its effect. It was not run again. Look at its effect before you repeat it.",
  },
  is_error: true,
  code: OUTCOME_UNKNOWN,
};

export const CANCELLED_CALL: ToolResult = {
  output: "The turn was cancelled.",
  is_error: true,
  code: CALL_CANCELLED,
};

export const deniedCall = (reason: string): ToolResult => ({
  output: reason,
  is_error: true,
  code: CALL_DENIED,
});

export const missingTool = (name: string): ToolResult => ({
  output: `There is no tool ${name}.`,
  is_error: true,
  code: "SKILL_NOT_FOUND",
});

export const brokenTool = (cause: unknown): ToolResult => ({
  output: `The tool failed: ${cause instanceof Error ? cause.message : String(cause)}`,
  is_error: true,
  code: "SKILL_FAILED",
});
