/**
 * Kind `codex`: OpenAI's codex, by `codex exec --json` (read against 0.46 and 0.169.0), and where it is spoken with by
 * `codex app-server` (0.169.0).
 */
import type { AgentAdapter } from "../../adapter.ts";
import { optedIn } from "../../opt-ins.ts";
import * as appServer from "./app-server/index.ts";
import { converses } from "./converses.ts";
import * as exec from "./decode.ts";
import { mcp } from "./mcp.ts";
import { finish } from "./outcome.ts";
import { credentials, plan } from "./plan.ts";
import { capabilities, OPT_INS, validateWith } from "./rules.ts";
import { LITTER, modelInArguments } from "./settings.ts";
import { type CodexState, initial } from "./state.ts";

export const codex: AgentAdapter<CodexState> = {
  kind: "codex",
  aliases: [],
  summary: "OpenAI codex, headless: one prompt or a conversation, its answers, its tools, its session.",
  capabilities,
  binary: { name: "codex", variable: "CODEX_BINARY" },
  credentials,
  streams: ["stdout"],
  default_restart: "transient",
  state: [{ home: ".codex", variable: "CODEX_HOME" }],
  litter: () => LITTER,
  sessions_under: ["CODEX_HOME", "HOME"],
  reading_tools: ["web_search"],
  messages: appServer.messages,
  converses,
  mcp,
  configured: (options) => {
    const able = [...capabilities, ...optedIn(OPT_INS, options)];
    return { capabilities: able, validate: validateWith(able) };
  },
  validate: validateWith(capabilities),
  plan: (context) => (converses(context.spec) ? appServer.plan(context) : plan(context)),
  model: modelInArguments,
  decoder_version: 1,
  initial: (opening) => (converses(opening.spec) ? appServer.initial(opening) : initial()),
  decode: (state, line) =>
    state.mode === "app_server" ? appServer.decode(state, line) : exec.decode(state, line),
  finish: (state, exit) =>
    state.mode === "app_server" ? appServer.finish(state, exit) : finish(state, exit),
};
