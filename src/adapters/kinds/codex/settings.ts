/** Settings for both ways of running codex. */

import { asName } from "../../../base/json.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { headersBy, type McpLaunch } from "../../mcp-launch.ts";

export const APPROVAL_POLICY = "backend.codex.exec.approval_policy";
export const SANDBOX_MODE = "backend.codex.exec.sandbox_mode";

/**
 * No update check, no analytics (5 s at exit), and no endless retries of a refused connection.
 * The user's plugins and apps stay as they are. The sandbox must not write to /tmp, because it leaves
 * empty directories where it can write when it is stopped during a command.
 */
export const QUIET = [
  "check_for_update_on_startup=false",
  "analytics.enabled=false",
  "features.unbounded_connection_retries=false",
  "sandbox_workspace_write.exclude_slash_tmp=true",
] as const;

/** Directories that its sandbox leaves where it can write, when it is stopped during a command. */
export const LITTER = [".agents", ".aws", ".codex", ".git"] as const;

/**
 * The model in the user's own arguments for codex, which win over --model: `-m M`, `--model M`, `-c model=M`.
 */
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

/** The servers as settings, which replace the user's servers of the same name. A JSON text or list is also TOML. */
export const serverSettings = (mcp: McpLaunch | undefined): readonly string[] =>
  Object.entries(mcp?.targets ?? {}).map(([name, target]) => {
    const members =
      "url" in target
        ? [
            ["url", JSON.stringify(target.url)] as const,
            ["env_http_headers", inlineTable(headersBy(target, (variable) => variable))] as const,
          ]
        : [
            ["command", JSON.stringify(target.command)] as const,
            ["args", JSON.stringify(target.args)] as const,
          ];
    return `mcp_servers.${name}={${members.map(([key, value]) => `${key}=${value}`).join(",")}}`;
  });

const inlineTable = (table: Readonly<Record<string, string>>): string =>
  `{${Object.entries(table)
    .map(([key, value]) => `${JSON.stringify(key)}=${JSON.stringify(value)}`)
    .join(",")}}`;
