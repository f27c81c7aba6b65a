/** Kind `command`: any program. The adapter that all supervision can be tried with. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { type CommandState, decode, initial } from "./decode.ts";
import { facts } from "./facts.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";

export const command: AgentAdapter<CommandState> = adapterOf(facts, {
  streams: ["stdout", "stderr"],
  // Its stdin is its own: what is sent is written as it is, and nobody can tell whether it was read.
  messages: { frame: (_, text) => text, acknowledges: false },
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
});
