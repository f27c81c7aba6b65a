/** Kind `llm`: a model and tools, run by the engine of Holdfast in a process of its own. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { initial, type LlmState } from "./state.ts";

export const llm: AgentAdapter<LlmState> = adapterOf(facts, {
  streams: ["stdout"],
  messages,
  converses: () => true,
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
});
