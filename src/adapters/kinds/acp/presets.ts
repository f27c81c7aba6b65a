/**
 * Agents whose way to speak ACP is known: their program, and which of the client's variables they may need (agent-clis.md
 * §3). Any other agent is a program and its arguments, and is given what `--env` and `--inherit-env` name.
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
import { ACP_AGENT, AGENTS } from "./facts.ts";

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
    // Its login would open one.
    env: { NO_BROWSER: "1" },
    credentials: codex.credentials,
    litter: LITTER,
  },
};

/** Undefined where the spec names none, or one that is not known. */
export const presetOf = ({ ext }: Pick<WorkerSpec, "ext">): (NamedAgent & Preset) | undefined => {
  const agent = AGENTS.find(({ name }) => name === ext[ACP_AGENT]);
  if (agent === undefined) return undefined;
  const preset = PRESETS[agent.name];
  return { ...agent, ...preset, credentials: [...preset.credentials, ...agent.variables] };
};
