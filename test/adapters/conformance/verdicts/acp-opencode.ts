/** Outcomes of the recorded conversations with `opencode acp` 1.18.33: completed, or the code of its failure. */
import type { ErrorCode } from "../../../../src/protocol/errors.ts";

export const acpOpencode: Readonly<Record<string, "completed" | ErrorCode>> = {
  "cancel-hang": "AGENT_FAILED",
  "cancel-stream": "AGENT_FAILED",
  drop: "NO_TERMINAL_EVENT",
  e400: "PROVIDER_ERROR",
  e401: "PROVIDER_ERROR",
  e429: "NO_TERMINAL_EVENT",
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
