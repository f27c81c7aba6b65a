/**
 * Plans the launch of OpenCode, headless: `opencode run --format json`, with the prompt on stdin, which ends
 * (it hangs on an open stdin).
 */

import { asObject, parseLine } from "../../../base/json.ts";
import { agentOptions } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { headersBy, type McpLaunch, mcpLaunch } from "../../mcp-launch.ts";
import { CONTENT } from "./facts.ts";

/** `--env` wins over it. */
const QUIET = { OPENCODE_DISABLE_AUTOUPDATE: "true" } as const;

/**
 * By default OpenCode allows everything. The CLI merges this over the permissions of its
 * configuration, key by key. But an agent in a project's configuration may have permissions of its own, which
 * win, so configuration in the working directory is not read, including its AGENTS.md. `--env` wins over
 * both. `prefix` is that of the variables: Kilo Code is made from OpenCode.
 */
export const guard = (
  changes: "deny" | "ask",
  prefix: "OPENCODE" | "KILO" = "OPENCODE",
): Readonly<Record<string, string>> => ({
  [`${prefix}_PERMISSION`]: JSON.stringify({ edit: changes, bash: changes }),
  [`${prefix}_DISABLE_PROJECT_CONFIG`]: "true",
});

/** Its configuration in a variable, with the servers beside what the user's own variable holds. */
const contentWith = (mcp: McpLaunch, { client_env }: WorkerSpec): Readonly<Record<string, string>> => {
  const own = asObject(parseLine(client_env[CONTENT] ?? "{}")) ?? {};
  const servers = Object.entries(mcp.targets).map(([name, target]) => [
    name,
    "url" in target
      ? { type: "remote", url: target.url, headers: headersBy(target, (held) => `{env:${held}}`) }
      : { type: "local", command: [target.command, ...target.args] },
  ]);
  return {
    [CONTENT]: JSON.stringify({ ...own, mcp: { ...asObject(own.mcp), ...Object.fromEntries(servers) } }),
  };
};

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec, session: known, binary, worker_id } = context;
  const { model, session, fork } = agentOptions(spec);
  const isAllowed = spec.permission === "allow";
  // A given title saves a request to the model.
  const argv = [
    binary,
    "run",
    "--format",
    "json",
    "--thinking",
    "--title",
    spec.name ?? `worker ${worker_id}`,
  ];
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) {
    argv.push("--session", known);
  } else if (session !== undefined) {
    if (session.by === "id") argv.push("--session", session.id);
    else argv.push("--continue");
    if (fork) argv.push("--fork");
  }
  // Allows the requests for which its configuration would ask.
  if (isAllowed) argv.push("--auto");
  argv.push(...spec.argv);
  const mcp = mcpLaunch(context);
  const servers = mcp && contentWith(mcp, spec);
  const env = { ...QUIET, ...(isAllowed ? {} : guard("deny")), ...servers };
  return {
    argv,
    env,
    ...(mcp && { scripts: mcp.scripts, references: mcp.references }),
    stdin: { kind: "text", text: spec.prompt ?? "" },
  };
};
