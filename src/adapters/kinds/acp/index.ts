/** Kind `acp`: any agent that speaks the Agent Client Protocol, version 1, over its stdin and stdout. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { initial, needs, plan } from "./plan.ts";
import { presetOf } from "./presets.ts";
import type { AcpState } from "./state.ts";

export const acp: AgentAdapter<AcpState> = adapterOf(facts, {
  needs,
  streams: ["stdout"],
  litter: (spec) => presetOf(spec)?.litter ?? [],
  messages,
  // Its prompt is a request like any other, and only the answer to it ends the turn.
  converses: () => true,
  plan,
  decoder_version: 2,
  initial,
  decode,
  finish,
});
