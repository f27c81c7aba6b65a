/**
 * The mistakes that each kind finds in a spec, without the rest of its adapter: the client asks before it starts a daemon. A right that the configuration must give passes here: the daemon knows it.
 */

import { unsupportedKeys } from "../protocol/extensions.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { validate as acp, capabilities as acpCapabilities } from "./kinds/acp/rules.ts";
import * as claudeCode from "./kinds/claude-code/plan.ts";
import * as codex from "./kinds/codex/rules.ts";
import { validate as command } from "./kinds/command/plan.ts";
import * as copilot from "./kinds/copilot/plan.ts";
import * as geminiCli from "./kinds/gemini-cli/plan.ts";
import * as opencode from "./kinds/opencode/plan.ts";
import { everyOptIn } from "./opt-ins.ts";

export { ADD_DIRS } from "../protocol/extensions.ts";

/** The most rights that a kind may have. */
const ABLE: Readonly<Record<string, readonly string[]>> = {
  claude_code: [...claudeCode.capabilities, ...everyOptIn(claudeCode.OPT_INS)],
  codex: [...codex.capabilities, ...everyOptIn(codex.OPT_INS)],
  acp: acpCapabilities,
  command: [],
  copilot: copilot.capabilities,
  gemini_cli: geminiCli.capabilities,
  opencode: opencode.capabilities,
};

export const VALIDATE: Readonly<Record<string, (spec: WorkerSpec) => readonly string[]>> = {
  claude_code: claudeCode.validateWith(ABLE.claude_code!),
  codex: codex.validateWith(ABLE.codex!),
  command,
  acp,
  copilot: copilot.validate,
  gemini_cli: geminiCli.validate,
  opencode: opencode.validate,
};

/** Keys that the kind takes under no configuration. */
export const foreignKeys = (kind: string, ext: WorkerSpec["ext"]): readonly string[] =>
  unsupportedKeys({ kind, ext }, ABLE[kind] ?? []);
