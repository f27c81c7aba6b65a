/** Outcomes of the recorded conversations with codex app-server 0.169.0: completed, or the code of its failure. */
import type { ErrorCode } from "../../../../src/protocol/errors.ts";

export const codexAppServer: Readonly<Record<string, "completed" | ErrorCode>> = {
  e401: "TOKEN_INVALID",
  // Its one turn was cancelled.
  interrupt: "AGENT_FAILED",
  long: "completed",
  patch: "completed",
  "shellwrite-accept": "completed",
  "shellwrite-decline": "completed",
  text: "completed",
};
