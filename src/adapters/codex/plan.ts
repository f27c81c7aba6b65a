/**
 * How codex runs headless: `codex exec --json`, or `codex exec resume --json ID`, with the prompt on stdin, which ends
 * (an open stdin hangs it). Settings go by `-c`, because `resume` does not know --sandbox; a later `-c` of the user wins.
 */
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../adapter.ts";
import { agentProblems, forkProblems } from "../agent-rules.ts";
import { agentOptions, HEADLESS, MODEL, NON_INTERACTIVE, RESUME } from "../extensions.ts";

export const capabilities = [...HEADLESS, RESUME, MODEL, NON_INTERACTIVE] as const;

export const credentials = ["CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"] as const;

/**
 * No update check, no analytics (5 s at exit), and a refused connection is not retried for ever (agent-clis.md §3).
 * The user's plugins and apps are left as they are.
 */
const QUIET = [
  "check_for_update_on_startup=false",
  "analytics.enabled=false",
  "features.unbounded_connection_retries=false",
] as const;

/** Nobody can answer a question of `codex exec`: what the sandbox forbids fails, and the run goes on. */
const DENY = ['approval_policy="never"', 'sandbox_mode="read-only"'] as const;

export const validate = (spec: WorkerSpec): readonly string[] => [
  ...agentProblems(spec, capabilities),
  ...forkProblems(spec),
];

export const plan = ({ spec, session: known, binary }: PlanContext): LaunchPlan => {
  const { model, session: asked } = agentOptions(spec);
  const session = known === undefined ? asked : ({ by: "id", id: known } as const);
  const settings: readonly string[] = [
    ...QUIET,
    ...(spec.permission === "allow" ? [] : DENY),
    // A JSON string is a TOML string.
    ...(model === undefined ? [] : [`model=${JSON.stringify(model)}`]),
  ];
  const argv = [binary, "exec"];
  if (session !== undefined) argv.push("resume");
  argv.push("--json", "--skip-git-repo-check");
  if (spec.permission === "allow") argv.push("--dangerously-bypass-approvals-and-sandbox");
  for (const setting of settings) argv.push("-c", setting);
  argv.push(...spec.argv);
  if (session !== undefined) argv.push(session.by === "id" ? session.id : "--last");
  argv.push("-");
  return { argv, env: {}, stdin: { kind: "text", text: spec.prompt ?? "" } };
};
