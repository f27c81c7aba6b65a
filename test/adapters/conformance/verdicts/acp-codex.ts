/** Outcomes of the recorded conversations with codex-acp 2.6.0: completed, or the code of its failure. */
import type { ErrorCode } from "../../../../src/protocol/errors.ts";

export const acpCodex: Readonly<Record<string, "completed" | ErrorCode>> = {
  "cancel-hang": "AGENT_FAILED",
  "cancel-stream": "AGENT_FAILED",
  drop: "PROVIDER_ERROR",
  e400: "PROVIDER_BAD_REQUEST",
  e401: "TOKEN_MISSING",
  e429: "RATE_LIMITED",
  empty: "completed",
  "kill-first": "AGENT_FAILED",
  "load-first": "completed",
  "load-unknown": "SESSION_NOT_FOUND",
  long: "completed",
  mcp: "completed",
  "protocol-errors": "SESSION_NOT_FOUND",
  read: "completed",
  shell: "completed",
  shellwrite: "completed",
  "shellwrite-permcancel": "completed",
  "sigint-tool": "AGENT_FAILED",
  "sigterm-tool": "AGENT_FAILED",
  "stdin-eof-tool": "NO_TERMINAL_EVENT",
  text: "completed",
};
