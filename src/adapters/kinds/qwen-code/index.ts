/** Kind `qwen_code`: Qwen Code, headless. Checked with 0.24.4. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { messages } from "./messages.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { initial, type QwenState } from "./state.ts";

export const qwenCode: AgentAdapter<QwenState> = adapterOf(facts, {
  streams: ["stdout"],
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
  messages,
});
