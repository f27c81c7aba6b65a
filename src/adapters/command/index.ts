/** Kind `command`: any program. The adapter that all supervision can be tried with. */
import type { AgentAdapter } from "../adapter.ts";
import { type CommandState, decode, initial } from "./decode.ts";
import { finish } from "./outcome.ts";
import { plan, validate } from "./plan.ts";

export const command: AgentAdapter<CommandState> = {
  kind: "command",
  aliases: [],
  summary: "Any program: its lines are text, its exit code is the outcome.",
  capabilities: ["agent_api.run", "agent_api.events", "agent_api.events.live", "agent_api.control.cancel.v1"],
  binary: null,
  credentials: [],
  streams: ["stdout", "stderr"],
  default_restart: "temporary",
  validate,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
