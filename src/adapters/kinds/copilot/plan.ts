/**
 * Plans the launch of Copilot CLI, headless: JSON lines on stdout and the prompt on stdin, which ends. With
 * `-p` it would ignore stdin.
 */

import { join } from "node:path";
import { agentOptions } from "../../../protocol/extensions.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";
import { bracedAddress, mcpLaunch, sharedForm } from "../../mcp-launch.ts";
import { chosenSession } from "./session.ts";
import { usageFile } from "./usage.ts";

/** `--env` wins over it. */
const ENVIRONMENT = { COPILOT_AUTO_UPDATE: "false" } as const;

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec, session: known, binary, incarnation, scripts_dir } = context;
  const { model, session, addDirs } = agentOptions(spec);
  const chosen = chosenSession(context);
  const argv = [binary, "--output-format", "json", "--no-color", "--no-ask-user"];
  if (model !== undefined) argv.push("--model", model);
  if (known !== undefined || session?.by === "id") argv.push(`--resume=${chosen}`);
  else if (session !== undefined) argv.push("--continue");
  else if (chosen !== undefined) argv.push("--session-id", chosen);
  for (const dir of addDirs) argv.push("--add-dir", dir);
  // Without it, actions that need a permission are denied and the run continues.
  if (spec.permission === "allow") argv.push("--allow-all");
  const usage = usageFile(spec, incarnation);
  if (usage !== undefined && scripts_dir !== undefined)
    argv.push("--usage-output-file", join(scripts_dir, usage));
  const mcp = mcpLaunch(context);
  // Without a list of tools it offers none.
  if (mcp !== undefined)
    argv.push("--additional-mcp-config", sharedForm(mcp, bracedAddress, { tools: ["*"] }));
  argv.push(...spec.argv);
  return {
    argv,
    env: ENVIRONMENT,
    stdin: { kind: "text", text: spec.prompt ?? "" },
    ...(mcp && { scripts: mcp.scripts, references: mcp.references }),
  };
};
