/** Kind `gemini_cli`: Google's Gemini CLI, headless. Read against 0.61.0. */
import type { AgentAdapter } from "../../adapter.ts";
import { decode } from "./decode.ts";
import { finish } from "./outcome.ts";
import { capabilities, credentials, plan, validate } from "./plan.ts";
import { type GeminiState, initial } from "./state.ts";

export const geminiCli: AgentAdapter<GeminiState> = {
  kind: "gemini_cli",
  aliases: ["gemini"],
  summary: "Gemini CLI, headless: one prompt, its answer, its tools, its session.",
  capabilities,
  binary: { name: "gemini", variable: "GEMINI_BINARY" },
  credentials,
  streams: ["stdout"],
  default_restart: "transient",
  sessions_under: ["GEMINI_CLI_HOME", "HOME"],
  reading_tools: [
    "glob",
    "google_web_search",
    "list_directory",
    "read_file",
    "read_many_files",
    "search_file_content",
    "web_fetch",
  ],
  validate,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
