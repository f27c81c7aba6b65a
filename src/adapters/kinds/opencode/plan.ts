/**
 * How OpenCode runs headless: `opencode run --format json`, with the prompt on stdin, which ends (an open stdin hangs it).
 */

import { agentOptions } from "../../../protocol/extensions.ts";
import type { LaunchPlan, PlanContext } from "../../adapter.ts";

/** `--env` wins over it. */
const QUIET = { OPENCODE_DISABLE_AUTOUPDATE: "true" } as const;

/**
 * By its own default everything is allowed (agent-clis.md §8). The CLI lays this over the permissions of its configuration,
 * key by key. But an agent that a configuration describes may have permissions of its own, which win: what lies in the
 * working directory is therefore not read, its AGENTS.md included. `--env` wins over both.
 */
export const guard = (changes: "deny" | "ask") => ({
  OPENCODE_PERMISSION: JSON.stringify({ edit: changes, bash: changes }),
  OPENCODE_DISABLE_PROJECT_CONFIG: "true",
});

export const plan = ({ spec, session: known, binary, worker_id }: PlanContext): LaunchPlan => {
  const { model, session, fork } = agentOptions(spec);
  const isAllowed = spec.permission === "allow";
  // A title that is given saves a question to the model.
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
  // Requests that its configuration would have made to somebody.
  if (isAllowed) argv.push("--auto");
  argv.push(...spec.argv);
  const env = isAllowed ? QUIET : { ...QUIET, ...guard("deny") };
  return { argv, env, stdin: { kind: "text", text: spec.prompt ?? "" } };
};
