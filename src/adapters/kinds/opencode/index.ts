/** Kind `opencode`: OpenCode, by `opencode run --format json`. Read against 1.18.33. */
import type { AgentAdapter } from "../../adapter.ts";
import { decode } from "./decode.ts";
import { finish } from "./outcome.ts";
import { capabilities, credentials, plan, validate } from "./plan.ts";
import { initial, type OpencodeState } from "./state.ts";

export const opencode: AgentAdapter<OpencodeState> = {
  kind: "opencode",
  aliases: [],
  summary: "OpenCode, headless: one prompt, its answer, its tools, its session.",
  capabilities,
  binary: { name: "opencode", variable: "OPENCODE_BINARY" },
  credentials,
  streams: ["stdout"],
  default_restart: "transient",
  sessions_under: ["XDG_DATA_HOME", "HOME"],
  reading_tools: ["glob", "grep", "list", "read", "webfetch"],
  validate,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
