/**
 * Kind `codex`: OpenAI's codex, by `codex exec --json` (checked with 0.46 and 0.169.0), and for a dialogue by
 * `codex app-server` (0.169.0).
 */
import type { AgentAdapter } from "../../adapter.ts";
import { adapterOf } from "../../facts.ts";
import * as appServer from "./app-server/index.ts";
import { converses } from "./converses.ts";
import * as exec from "./decode.ts";
import { facts } from "./facts.ts";
import { mcp } from "./mcp.ts";
import { finish } from "./outcome.ts";
import { plan } from "./plan.ts";
import { LITTER, modelInArguments } from "./settings.ts";
import { type CodexState, initial } from "./state.ts";

export const codex: AgentAdapter<CodexState> = adapterOf(facts, {
  streams: ["stdout"],
  litter: () => LITTER,
  messages: appServer.messages,
  converses,
  mcp,
  plan: (context) => (converses(context.spec) ? appServer.plan(context) : plan(context)),
  model: modelInArguments,
  decoder_version: 1,
  initial: (opening) => (converses(opening.spec) ? appServer.initial(opening) : initial()),
  decode: (state, line) =>
    state.mode === "app_server" ? appServer.decode(state, line) : exec.decode(state, line),
  finish: (state, exit) =>
    state.mode === "app_server" ? appServer.finish(state, exit) : finish(state, exit),
});
