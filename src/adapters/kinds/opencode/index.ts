/** Kind `opencode`: OpenCode, by `opencode run --format json`. Checked with 1.18.33. */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import { decode } from "./decode.ts";
import { facts } from "./facts.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { initial, type OpencodeState } from "./state.ts";

export const opencode: AgentAdapter<OpencodeState> = adapterOf(facts, {
  streams: ["stdout"],
  plan,
  decoder_version: 1,
  initial,
  decode,
  finish,
});
