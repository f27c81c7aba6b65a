/**
 * How to run the named ACP agents: their arguments, and the client's variables that they may need.
 * Any other agent is a program with arguments, and gets only the variables of `--env` and
 * `--inherit-env`.
 */
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { NamedAgent } from "../../facts.ts";
import { facts as claude } from "../claude-code/facts.ts";
import { facts as codex } from "../codex/facts.ts";
import { LITTER } from "../codex/settings.ts";
import { facts as copilot } from "../copilot/facts.ts";
import { facts as gemini } from "../gemini-cli/facts.ts";
import { ENVIRONMENT as geminiEnvironment } from "../gemini-cli/plan.ts";
import { facts as opencode } from "../opencode/facts.ts";
import { guard as opencodeGuard } from "../opencode/plan.ts";
import { facts as qwen } from "../qwen-code/facts.ts";
import { ENVIRONMENT as qwenEnvironment } from "../qwen-code/plan.ts";
import { ACP_AGENT, AGENTS } from "./facts.ts";

interface Preset {
  readonly args: readonly string[];
  /** The flag that names a model; without it the protocol selects the model. */
  readonly model_flag?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that make it ask, used unless everything is allowed. */
  readonly guarded?: Readonly<Record<string, string>>;
  readonly credentials: readonly string[];
  readonly litter?: readonly string[];
}

const PRESETS: Readonly<Record<(typeof AGENTS)[number]["name"], Preset>> = {
  gemini: {
    args: ["--acp"],
    model_flag: "--model",
    env: geminiEnvironment,
    credentials: gemini.credentials,
  },
  opencode: {
    args: ["acp"],
    env: { OPENCODE_DISABLE_AUTOUPDATE: "true" },
    guarded: opencodeGuard("ask"),
    credentials: opencode.credentials,
  },
  copilot: {
    args: ["--acp"],
    model_flag: "--model",
    env: { COPILOT_AUTO_UPDATE: "false" },
    credentials: copilot.credentials,
  },
  claude: {
    args: [],
    env: { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    credentials: claude.credentials,
  },
  codex: {
    args: [],
    // Its login would open a browser.
    env: { NO_BROWSER: "1" },
    credentials: codex.credentials,
    litter: LITTER,
  },
  qwen: {
    // In its own default mode, a model decides what is allowed.
    args: ["--acp", "--approval-mode", "default"],
    model_flag: "--model",
    env: qwenEnvironment,
    credentials: qwen.credentials,
  },
  kilo: {
    args: ["acp"],
    env: { KILO_DISABLE_AUTOUPDATE: "true" },
    guarded: opencodeGuard("ask", "KILO"),
    credentials: opencode.credentials,
  },
  kimi: {
    args: ["acp"],
    env: { KIMI_CODE_NO_AUTO_UPDATE: "1" },
    credentials: [],
  },
  cline: {
    // On its command line, everything is approved by default.
    args: ["--acp", "--auto-approve", "false"],
    // Otherwise it leaves a server behind, which other runs of it use and which ends with this one.
    env: { CLINE_SESSION_BACKEND_MODE: "local" },
    credentials: [],
  },
  auggie: {
    args: ["--acp"],
    model_flag: "--model",
    env: { AUGMENT_DISABLE_AUTO_UPDATE: "1" },
    credentials: [],
  },
  goose: {
    args: ["acp"],
    env: {},
    guarded: { GOOSE_MODE: "approve" },
    credentials: [],
  },
};

/** Undefined if the spec names no agent, or an unknown one. */
export const presetOf = ({ ext }: Pick<WorkerSpec, "ext">): (NamedAgent & Preset) | undefined => {
  const agent = AGENTS.find(({ name }) => name === ext[ACP_AGENT]);
  if (agent === undefined) return undefined;
  const preset = PRESETS[agent.name];
  return { ...agent, ...preset, credentials: [...preset.credentials, ...agent.variables] };
};
