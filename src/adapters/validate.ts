/** What each kind finds wrong with a spec, without the rest of its adapter: the client asks before it starts a daemon. */
import type { WorkerSpec } from "../protocol/worker.ts";
import { validate as acp } from "./acp/rules.ts";
import { validate as claudeCode } from "./claude-code/plan.ts";
import { validate as codex } from "./codex/plan.ts";
import { validate as command } from "./command/plan.ts";
import { validate as copilot } from "./copilot/plan.ts";
import { validate as geminiCli } from "./gemini-cli/plan.ts";
import { validate as opencode } from "./opencode/plan.ts";

export const VALIDATE: Readonly<Record<string, (spec: WorkerSpec) => readonly string[]>> = {
  claude_code: claudeCode,
  codex,
  command,
  acp,
  copilot,
  gemini_cli: geminiCli,
  opencode,
};
