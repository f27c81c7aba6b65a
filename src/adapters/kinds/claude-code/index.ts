/** Kind `claude_code`: Anthropic's Claude Code, headless. Checked with 2.1.4, 2.1.197 and 2.1.329. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { converses } from "./converses.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { mcp } from "./mcp.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { type ClaudeState, initial } from "./state.ts";

export const claudeCode: AgentAdapter<ClaudeState> = adapterOf(facts, {
  streams: ["stdout"],
  messages,
  converses,
  mcp,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
});
