/** Kind `codex`: OpenAI's codex, by `codex exec --json`. Read against 0.46 and 0.169.0. */
import type { AgentAdapter } from "../adapter.ts";
import { optedIn } from "../opt-ins.ts";
import { decode } from "./decode.ts";
import { mcp } from "./mcp.ts";
import { finish } from "./outcome.ts";
import { capabilities, credentials, modelInArguments, OPT_INS, plan, validateWith } from "./plan.ts";
import { type CodexState, initial } from "./state.ts";

export const codex: AgentAdapter<CodexState> = {
  kind: "codex",
  aliases: [],
  summary: "OpenAI codex, headless: one prompt, its answer, its tools, its session.",
  capabilities,
  binary: { name: "codex", variable: "CODEX_BINARY" },
  credentials,
  streams: ["stdout"],
  default_restart: "transient",
  state: [{ home: ".codex", variable: "CODEX_HOME" }],
  sessions_under: ["CODEX_HOME", "HOME"],
  reading_tools: ["web_search"],
  mcp,
  configured: (options) => {
    const able = [...capabilities, ...optedIn(OPT_INS, options)];
    return { capabilities: able, validate: validateWith(able) };
  },
  validate: validateWith(capabilities),
  plan,
  model: modelInArguments,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
