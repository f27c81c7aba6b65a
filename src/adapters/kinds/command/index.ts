/** Kind `command`: any program. All supervision can be tried with this adapter. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { type CommandState, decode, initial } from "./decode.ts";
import { facts } from "./facts.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";

export const command: AgentAdapter<CommandState> = adapterOf(facts, {
  streams: ["stdout", "stderr"],
  // The program gets the text unchanged, and does not tell whether it has read it.
  messages: { frame: (_, text) => text, acknowledges: false },
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
});
