/** Kind `acp`: any agent that speaks the Agent Client Protocol, version 1, over its stdin and stdout. */
import type { AgentAdapter } from "../../adapter.ts";
import { decode } from "./decode.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { initial, needs, plan } from "./plan.ts";
import { presetOf } from "./presets.ts";
import { capabilities, validate } from "./rules.ts";
import type { AcpState } from "./state.ts";

export const acp: AgentAdapter<AcpState> = {
  kind: "acp",
  aliases: [],
  summary: "Any agent that speaks the Agent Client Protocol: prompts, tools, permissions, its session.",
  capabilities,
  binary: null,
  credentials: [],
  needs,
  streams: ["stdout"],
  default_restart: "transient",
  litter: (spec) => presetOf(spec)?.litter ?? [],
  sessions_under: ["HOME"],
  messages,
  // Its prompt is a request like any other, and only an answer to it says that the turn is over.
  converses: () => true,
  validate,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
