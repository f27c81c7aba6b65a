/** Kind `claude_code`: Anthropic's Claude Code, headless. Read against 2.1.4, 2.1.197 and 2.1.329. */
import type { AgentAdapter } from "../../adapter.ts";
import { optedIn } from "../../opt-ins.ts";
import { converses } from "./converses.ts";
import { decode } from "./decode.ts";
import { mcp } from "./mcp.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { capabilities, credentials, OPT_INS, plan, validateWith } from "./plan.ts";
import { type ClaudeState, initial } from "./state.ts";

export const claudeCode: AgentAdapter<ClaudeState> = {
  kind: "claude_code",
  aliases: ["claude"],
  summary: "Claude Code, headless: one prompt or a conversation, its answers, its tools, its session.",
  capabilities,
  binary: { name: "claude", variable: "CLAUDE_BINARY" },
  credentials,
  streams: ["stdout"],
  default_restart: "transient",
  sessions_under: ["CLAUDE_CONFIG_DIR", "HOME"],
  reading_tools: ["Glob", "Grep", "LS", "NotebookRead", "Read", "WebFetch", "WebSearch"],
  state: [
    { home: ".claude", variable: "CLAUDE_CONFIG_DIR" },
    { home: ".claude.json", isFile: true },
  ],
  messages,
  converses,
  mcp,
  configured: (options) => {
    const able = [...capabilities, ...optedIn(OPT_INS, options)];
    return { capabilities: able, validate: validateWith(able) };
  },
  validate: validateWith(capabilities),
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
