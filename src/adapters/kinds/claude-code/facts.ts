/** The facts of kind `claude_code`: Anthropic's Claude Code. */
import {
  ADD_DIRS,
  EXTERNAL_SANDBOX,
  FORK,
  HEADLESS,
  MCP_SERVERS,
  MODEL,
  NON_INTERACTIVE,
  RESUME,
} from "../../../protocol/extensions.ts";
import { agentProblems } from "../../decoding/agent-rules.ts";
import type { KindFacts } from "../../facts.ts";

export const facts = {
  kind: "claude_code",
  aliases: ["claude"],
  summary: "Claude Code, headless: one prompt or a conversation, its answers, its tools, its session.",
  limits: [
    "It does not ask about a tool that its own settings allow, so permission rules do not apply to it. A tool that `--deny-tool` names without an argument is removed from it instead.",
    "The text of a try that fails midway (partial messages) stays in the log, followed by the text of the next try.",
    "Versions without running totals by model report the tokens of a turn without those of sub-agents and failed tries.",
    "After SIGTERM or SIGKILL the CLI prints no `result`: the cost of the open turn is known only from its messages so far, and counts only for budgets.",
  ],
  capabilities: [
    ...HEADLESS,
    RESUME,
    FORK,
    MODEL,
    MCP_SERVERS,
    NON_INTERACTIVE,
    ADD_DIRS,
    "agent_api.tools.mcp.list.v1",
    "agent_api.tools.mcp.get.v1",
    "backend.claude_code.print_stream_json",
  ],
  ways_of_running: ["backend.claude_code.print_stream_json"],
  opt_ins: {
    allow_external_sandbox_exec: [EXTERNAL_SANDBOX],
    allow_mcp_write: ["agent_api.tools.mcp.add.v1", "agent_api.tools.mcp.remove.v1"],
  },
  binary: { name: "claude", variable: "CLAUDE_BINARY" },
  provider: "anthropic",
  credentials: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
  ],
  default_restart: "transient",
  takes_output_schema: true,
  needs_prompt: true,
  dialogue: "turns",
  sessions_under: ["CLAUDE_CONFIG_DIR", "HOME"],
  reading_tools: ["Glob", "Grep", "LS", "NotebookRead", "Read", "WebFetch", "WebSearch"],
  state: [
    { home: ".claude", variable: "CLAUDE_CONFIG_DIR" },
    { home: ".claude.json", isFile: true },
  ],
  validate: (spec, able) => agentProblems(spec, able, { converses: true, asks: true }),
} as const satisfies KindFacts;
