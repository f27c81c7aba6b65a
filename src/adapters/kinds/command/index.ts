/** Kind `command`: any program. The adapter that all supervision can be tried with. */
import type { AgentAdapter } from "../../adapter.ts";
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
  // Its stdin is its own: what is sent is written as it is, and nobody can tell whether it was read.
  messages: { frame: (_, text) => text, acknowledges: false },
  validate,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
};
