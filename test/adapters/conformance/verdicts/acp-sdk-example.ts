/** Outcomes of the recorded conversations with the example agent of the SDK, 0.28.1: completed, or the code of its failure. */
import type { ErrorCode } from "../../../../src/protocol/errors.ts";

export const acpSdkExample: Readonly<Record<string, "completed" | ErrorCode>> = {
  "kill-first": "AGENT_FAILED",
  "load-unknown": "SESSION_NOT_FOUND",
  "protocol-errors": "SESSION_NOT_FOUND",
  "shellwrite-permcancel": "completed",
  "sigterm-tool": "AGENT_FAILED",
  "stdin-eof-tool": "NO_TERMINAL_EVENT",
  text: "completed",
};
