/** Settings of codex that both of its ways of running share. */

import { asName } from "../../../base/json.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";

export const APPROVAL_POLICY = "backend.codex.exec.approval_policy";
export const SANDBOX_MODE = "backend.codex.exec.sandbox_mode";

/**
 * No update check, no analytics (5 s at exit), and a refused connection is not retried for ever (agent-clis.md §3).
 * The user's plugins and apps are left as they are. Its sandbox leaves empty directories where it could write, if it is stopped in
 * a command: not in /tmp (§6).
 */
export const QUIET = [
  "check_for_update_on_startup=false",
  "analytics.enabled=false",
  "features.unbounded_connection_retries=false",
  "sandbox_workspace_write.exclude_slash_tmp=true",
] as const;

/** Files that its sandbox leaves where it could write, if it is stopped in a command. */
export const LITTER = [".agents", ".aws", ".codex", ".git"] as const;

/** The model of the user's own arguments for codex, which win over --model: `-m M`, `--model M`, `-c model=M`. */
export const modelInArguments = ({ argv }: WorkerSpec): string | undefined => {
  let model: string | undefined;
  argv.forEach((argument, at) => {
    const [, flag, joined] = /^(-m|--model|-c|--config)(?:=(.*))?$/s.exec(argument) ?? [];
    const value = joined ?? argv[at + 1];
    if (flag === undefined || value === undefined) return;
    const setting = flag === "-m" || flag === "--model" ? value : /^model=(.*)$/s.exec(value)?.[1];
    model = asName(setting?.replace(/^"(.*)"$/s, "$1")) ?? model;
  });
  return model;
};
