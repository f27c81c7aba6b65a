/** Kind `gemini_cli`: Google's Gemini CLI, headless. Checked with 0.61.0. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { type GeminiState, initial } from "./state.ts";

export const geminiCli: AgentAdapter<GeminiState> = adapterOf(facts, {
  streams: ["stdout"],
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
});
