/** Kind `copilot`: GitHub's Copilot CLI, headless. Checked with 1.0.102. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { type CopilotState, initial } from "./state.ts";
import { usageFile } from "./usage.ts";

export const copilot: AgentAdapter<CopilotState> = adapterOf(facts, {
  streams: ["stdout"],
  plan,
  leaves: usageFile,
  decoder_version: 2,
  initial,
  decode,
  finish,
});
