/** Agents of kind `acp` that are known by a name of their own: `acp:gemini`. How each one is run, its adapter knows. */

/** The extension key of a worker's spec that names one. */
export const ACP_AGENT = "backend.acp.agent.v1";

export interface AcpAgent {
  readonly name: string;
  /** The program and the variable that names another one. */
  readonly binary: string;
  readonly variable: string;
}

export const ACP_AGENTS = [
  { name: "gemini", binary: "gemini", variable: "GEMINI_BINARY" },
  { name: "opencode", binary: "opencode", variable: "OPENCODE_BINARY" },
  { name: "copilot", binary: "copilot", variable: "COPILOT_BINARY" },
  { name: "claude", binary: "claude-agent-acp", variable: "CLAUDE_ACP_BINARY" },
  { name: "codex", binary: "codex-acp", variable: "CODEX_ACP_BINARY" },
] as const satisfies readonly AcpAgent[];

export type AcpAgentName = (typeof ACP_AGENTS)[number]["name"];
