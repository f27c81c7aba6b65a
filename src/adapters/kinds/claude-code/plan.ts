/**
 * Plans the launch of Claude Code, headless: `claude -p` with stream-json on stdout (which requires
 * `--verbose`) and the prompt on stdin, which ends. The prompt is never an argument, because it could begin
 * with a dash or exceed the kernel's limit. In a dialogue, stdin is stream-json too and stays open, and each
 * message is printed again once it was taken in.
 */

import { agentOptions, EXTERNAL_SANDBOX_WARNING } from "../../../protocol/extensions.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { asksPermission } from "../../decoding/agent-rules.ts";
import { bracedAddress, mcpLaunch, sharedForm } from "../../mcp-launch.ts";
import { converses } from "./converses.ts";

/**
 * No self-update and no telemetry. The CLI's default of 10 retries (190 s) is set
 * explicitly, so that retries end well before the stall limit in every version. `--env` wins over all three.
 */
const ENVIRONMENT = {
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "10",
} as const;

/**
 * As root, the CLI refuses to run without permission checks unless this variable says that it is confined.
 */
const CONFINED = { IS_SANDBOX: "1" } as const;

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec, session: known, binary } = context;
  const { model, session, fork, addDirs, externalSandbox } = agentOptions(spec);
  const argv = [binary, "-p", "--output-format", "stream-json", "--verbose"];
  if (converses(spec)) argv.push("--input-format", "stream-json", "--replay-user-messages");
  if (asksPermission(spec)) argv.push("--permission-prompt-tool", "stdio");
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined) {
    argv.push("--resume", known);
  } else if (session !== undefined) {
    if (session.by === "id") argv.push("--resume", session.id);
    else argv.push("--continue");
    if (fork) argv.push("--fork-session");
  }
  if (spec.output_schema !== undefined) argv.push("--json-schema", JSON.stringify(spec.output_schema));
  const mcp = mcpLaunch(context);
  if (mcp !== undefined) argv.push(`--mcp-config=${sharedForm(mcp, bracedAddress)}`);
  for (const dir of addDirs) argv.push("--add-dir", dir);
  // Without it, actions that need a permission are denied and the run continues.
  if (externalSandbox || (spec.permission === "allow" && !asksPermission(spec)))
    argv.push("--permission-mode", "bypassPermissions");
  // The CLI does not ask about tools that its own settings allow, so tools that a rule always denies are
  // removed.
  const never = spec.permission_rules.filter(
    ({ action, argument }) => action === "deny" && argument === undefined,
  );
  if (never.length > 0) argv.push("--disallowedTools", never.map(({ tool }) => tool).join(","));
  // The CLI counts the steps of one answer. These are the turns of a single prompt, but not those of a
  // conversation.
  if (spec.budget.turns !== undefined && !spec.interactive)
    argv.push("--max-turns", String(spec.budget.turns));
  if (spec.budget.usd !== undefined) argv.push("--max-budget-usd", String(spec.budget.usd));
  argv.push(...spec.argv);
  const stdin = converses(spec)
    ? ({ kind: "open", text: "" } as const)
    : ({ kind: "text", text: spec.prompt ?? "" } as const);
  return {
    argv,
    env: spec.sandbox === undefined ? ENVIRONMENT : { ...ENVIRONMENT, ...CONFINED },
    stdin,
    ...(mcp && { scripts: mcp.scripts, references: mcp.references }),
    ...(externalSandbox ? { warnings: [EXTERNAL_SANDBOX_WARNING] } : {}),
  };
};
