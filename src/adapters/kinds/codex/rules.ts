/** Rules for a spec of kind `codex`. */

import {
  ADD_DIRS,
  EXTERNAL_SANDBOX,
  FORK,
  HEADLESS,
  MODEL,
  NON_INTERACTIVE,
  oneOf,
  RESUME,
} from "../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../protocol/worker.ts";
import { agentProblems, asksPermission } from "../../decoding/agent-rules.ts";
import { APPROVAL_POLICY, SANDBOX_MODE } from "./settings.ts";

export const capabilities = [
  ...HEADLESS,
  RESUME,
  FORK,
  MODEL,
  NON_INTERACTIVE,
  ADD_DIRS,
  "agent_api.tools.mcp.list.v1",
  "agent_api.tools.mcp.get.v1",
  "backend.codex.exec_stream",
  APPROVAL_POLICY,
  SANDBOX_MODE,
] as const;

/** Rights that the configuration must give, by its option. */
export const OPT_INS = {
  allow_external_sandbox_exec: [EXTERNAL_SANDBOX],
  allow_mcp_write: ["agent_api.tools.mcp.add.v1", "agent_api.tools.mcp.remove.v1"],
} as const;

/** Notes A.5: the words of codex itself. */
const OWN_KEYS = {
  [APPROVAL_POLICY]: oneOf(APPROVAL_POLICY, ["untrusted", "on-failure", "on-request", "never"]),
  [SANDBOX_MODE]: oneOf(SANDBOX_MODE, ["read-only", "workspace-write", "danger-full-access"]),
};

const policyProblems = (spec: WorkerSpec): readonly string[] => {
  const { ext, permission } = spec;
  const problems: string[] = [];
  const policy = ext[APPROVAL_POLICY];
  if (policy !== undefined && policy !== "never" && ext[NON_INTERACTIVE] !== false)
    problems.push(`${APPROVAL_POLICY} must be "never" unless ${NON_INTERACTIVE} is false.`);
  else if (policy === "on-failure")
    problems.push(`codex asks nobody by ${APPROVAL_POLICY}="on-failure" any more: use "on-request".`);
  else if (policy === "never" && asksPermission(spec))
    problems.push(
      `${APPROVAL_POLICY}="never" contradicts --permission ask and rules: nothing is asked then.`,
    );
  if (permission === "allow")
    for (const key of [APPROVAL_POLICY, SANDBOX_MODE])
      if (ext[key] !== undefined)
        problems.push(`${key} contradicts --permission allow, which asks nothing and has no sandbox.`);
  return problems;
};

/** `able`: the capabilities of this instance. */
export const validateWith =
  (able: readonly string[]) =>
  (spec: WorkerSpec): readonly string[] => [
    ...agentProblems(spec, able, { keys: OWN_KEYS, converses: true, asks: true }),
    ...policyProblems(spec),
  ];
