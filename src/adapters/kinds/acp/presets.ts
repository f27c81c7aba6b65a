/**
 * Agents whose way to speak ACP is known: their program, and which of the client's variables they may need (agent-clis.md
 * §3). Any other agent is a program and its arguments, and is given what `--env` and `--inherit-env` name.
 */
import { ACP_AGENT, ACP_AGENTS, type AcpAgent, type AcpAgentName } from "../../../base/acp-agents.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { credentials as claudeCredentials } from "../claude-code/plan.ts";
import { credentials as codexCredentials } from "../codex/plan.ts";
import { LITTER } from "../codex/settings.ts";
import { credentials as copilotCredentials } from "../copilot/plan.ts";
import { credentials as geminiCredentials, ENVIRONMENT as geminiEnvironment } from "../gemini-cli/plan.ts";
import { credentials as opencodeCredentials, guard as opencodeGuard } from "../opencode/plan.ts";

interface Preset {
  readonly args: readonly string[];
  /** How its arguments name a model; without it, the protocol does. */
  readonly model_flag?: string;
  readonly env: Readonly<Record<string, string>>;
  /** And so that it asks, where not everything is allowed. */
  readonly guarded?: Readonly<Record<string, string>>;
  readonly credentials: readonly string[];
  readonly litter?: readonly string[];
}

const PRESETS: Readonly<Record<AcpAgentName, Preset>> = {
  gemini: {
    args: ["--acp"],
    model_flag: "--model",
    env: geminiEnvironment,
    credentials: [...geminiCredentials, "GEMINI_SYSTEM_MD"],
  },
  opencode: {
    args: ["acp"],
    env: { OPENCODE_DISABLE_AUTOUPDATE: "true" },
    guarded: opencodeGuard("ask"),
    credentials: [...opencodeCredentials, "OPENCODE_DISABLE_LSP_DOWNLOAD", "OPENCODE_DISABLE_MODELS_FETCH"],
  },
  copilot: {
    args: ["--acp"],
    model_flag: "--model",
    env: { COPILOT_AUTO_UPDATE: "false" },
    credentials: copilotCredentials,
  },
  claude: {
    args: [],
    env: { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    // The bridge brings no claude of its own where it was installed without one.
    credentials: [...claudeCredentials, "CLAUDE_CODE_EXECUTABLE"],
  },
  codex: {
    args: [],
    // Its login would open one.
    env: { NO_BROWSER: "1" },
    credentials: [...codexCredentials, "CODEX_PATH"],
    litter: LITTER,
  },
};

/** Undefined where the spec names none, or one that is not known. */
export const presetOf = ({ ext }: Pick<WorkerSpec, "ext">): (AcpAgent & Preset) | undefined => {
  const agent = ACP_AGENTS.find(({ name }) => name === ext[ACP_AGENT]);
  return agent === undefined ? undefined : { ...agent, ...PRESETS[agent.name] };
};
