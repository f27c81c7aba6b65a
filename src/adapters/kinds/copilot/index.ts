/** Kind `copilot`: GitHub's Copilot CLI, headless. Read against 1.0.102. */
import type { AgentAdapter } from "../../adapter.ts";
import { decode } from "./decode.ts";
import { finish } from "./outcome.ts";
import { capabilities, credentials, plan, validate } from "./plan.ts";
import { type CopilotState, initial } from "./state.ts";

export const copilot: AgentAdapter<CopilotState> = {
  kind: "copilot",
  aliases: [],
  summary: "Copilot CLI, headless: one prompt, its answer, its tools, its session. It tells no usage.",
  capabilities,
  binary: { name: "copilot", variable: "COPILOT_BINARY" },
  credentials,
  streams: ["stdout"],
  default_restart: "transient",
  sessions_under: ["COPILOT_HOME", "HOME"],
  reading_tools: ["glob", "grep", "view"],
  validate,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
