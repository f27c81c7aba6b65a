/**
 * Plans the launch of codex, headless: `codex exec --json`, or `codex exec resume --json ID`, with the prompt
 * on stdin, which ends (codex hangs on an open stdin). Settings use `-c`, because `resume` does not know
 * --sandbox. A later `-c` of the user wins.
 */

import { agentOptions, EXTERNAL_SANDBOX_WARNING } from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { mcpLaunch } from "../../mcp-launch.ts";
import { APPROVAL_POLICY, QUIET, SANDBOX_MODE, serverSettings } from "./settings.ts";

/**
 * `codex exec` cannot ask: an action that the sandbox forbids fails, and the run continues. With --permission
 * deny it is read-only unless a key says otherwise. A JSON string of these values is also a TOML string.
 */
const policiesOf = ({ ext }: WorkerSpec): readonly string[] => [
  `approval_policy=${JSON.stringify(ext[APPROVAL_POLICY] ?? "never")}`,
  `sandbox_mode=${JSON.stringify(ext[SANDBOX_MODE] ?? "read-only")}`,
];

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec, session: known, binary } = context;
  const mcp = mcpLaunch(context);
  const { model, session: asked, addDirs, externalSandbox } = agentOptions(spec);
  const session = known === undefined ? asked : ({ by: "id", id: known } as const);
  const bypasses = spec.permission === "allow" || externalSandbox;
  const settings: readonly string[] = [
    ...QUIET,
    ...(bypasses ? [] : policiesOf(spec)),
    // A JSON string is also a TOML string.
    ...(model === undefined ? [] : [`model=${JSON.stringify(model)}`]),
    ...serverSettings(mcp),
  ];
  const argv = [binary, "exec"];
  // `--add-dir` is a flag of `exec` that `resume` does not know.
  for (const dir of addDirs) argv.push("--add-dir", dir);
  if (session !== undefined) argv.push("resume");
  argv.push("--json", "--skip-git-repo-check");
  if (bypasses) argv.push("--dangerously-bypass-approvals-and-sandbox");
  for (const setting of settings) argv.push("-c", setting);
  argv.push(...spec.argv);
  if (session !== undefined) argv.push(session.by === "id" ? session.id : "--last");
  argv.push("-");
  return {
    argv,
    env: {},
    stdin: { kind: "text", text: spec.prompt ?? "" },
    ...(mcp && { scripts: mcp.scripts, references: mcp.references }),
    ...(externalSandbox ? { warnings: [EXTERNAL_SANDBOX_WARNING] } : {}),
  };
};
