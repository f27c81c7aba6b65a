/**
 * How codex runs headless: `codex exec --json`, or `codex exec resume --json ID`, with the prompt on stdin, which ends
 * (an open stdin hangs it). Settings go by `-c`, because `resume` does not know --sandbox; a later `-c` of the user wins.
 */
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { LaunchPlan, PlanContext } from "../adapter.ts";
import { agentProblems, forkProblems } from "../agent-rules.ts";
import {
  ADD_DIRS,
  agentOptions,
  EXTERNAL_SANDBOX,
  EXTERNAL_SANDBOX_WARNING,
  HEADLESS,
  MODEL,
  NON_INTERACTIVE,
  oneOf,
  RESUME,
} from "../extensions.ts";
import { asName } from "../json.ts";

const APPROVAL_POLICY = "backend.codex.exec.approval_policy";
const SANDBOX_MODE = "backend.codex.exec.sandbox_mode";

/** Notes A.5: the words of codex itself. */
const OWN_KEYS = {
  [APPROVAL_POLICY]: oneOf(APPROVAL_POLICY, ["untrusted", "on-failure", "on-request", "never"]),
  [SANDBOX_MODE]: oneOf(SANDBOX_MODE, ["read-only", "workspace-write", "danger-full-access"]),
};

export const capabilities = [
  ...HEADLESS,
  RESUME,
  MODEL,
  NON_INTERACTIVE,
  ADD_DIRS,
  "agent_api.tools.mcp.list.v1",
  "agent_api.tools.mcp.get.v1",
  "backend.codex.exec_stream",
  APPROVAL_POLICY,
  SANDBOX_MODE,
] as const;

/** What must be allowed by the configuration, by its option. */
export const OPT_INS = {
  allow_external_sandbox_exec: [EXTERNAL_SANDBOX],
  allow_mcp_write: ["agent_api.tools.mcp.add.v1", "agent_api.tools.mcp.remove.v1"],
} as const;

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

/**
 * Nobody can answer a question of `codex exec`: what the sandbox forbids fails, and the run goes on. With --permission deny it only
 * reads, unless a key says otherwise; a word of the schema is a TOML string as it is a JSON string.
 */
const policiesOf = ({ ext }: WorkerSpec): readonly string[] => [
  `approval_policy=${JSON.stringify(ext[APPROVAL_POLICY] ?? "never")}`,
  `sandbox_mode=${JSON.stringify(ext[SANDBOX_MODE] ?? "read-only")}`,
];

const policyProblems = ({ ext, permission }: WorkerSpec): readonly string[] => {
  const problems: string[] = [];
  const policy = ext[APPROVAL_POLICY];
  if (policy !== undefined && policy !== "never" && ext[NON_INTERACTIVE] !== false)
    problems.push(`${APPROVAL_POLICY} must be "never" unless ${NON_INTERACTIVE} is false.`);
  if (permission === "allow")
    for (const key of [APPROVAL_POLICY, SANDBOX_MODE])
      if (ext[key] !== undefined)
        problems.push(`${key} contradicts --permission allow, which asks nothing and has no sandbox.`);
  return problems;
};

/** Of the user's own arguments for codex, which win over --model: `-m M`, `--model M`, `-c model=M`. */
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

/** `able`: the capabilities of this instance. */
export const validateWith =
  (able: readonly string[]) =>
  (spec: WorkerSpec): readonly string[] => {
    return [...agentProblems(spec, able, { keys: OWN_KEYS }), ...policyProblems(spec), ...forkProblems(spec)];
  };

export const plan = ({ spec, session: known, binary }: PlanContext): LaunchPlan => {
  const { model, session: asked, addDirs, externalSandbox } = agentOptions(spec);
  const session = known === undefined ? asked : ({ by: "id", id: known } as const);
  const bypasses = spec.permission === "allow" || externalSandbox;
  const settings: readonly string[] = [
    ...QUIET,
    ...(bypasses ? [] : policiesOf(spec)),
    // A JSON string is a TOML string.
    ...(model === undefined ? [] : [`model=${JSON.stringify(model)}`]),
  ];
  const argv = [binary, "exec"];
  // `resume` does not know it: it is a flag of `exec`.
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
    ...(externalSandbox ? { warnings: [EXTERNAL_SANDBOX_WARNING] } : {}),
  };
};
