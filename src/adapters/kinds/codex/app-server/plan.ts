/**
 * Plans the launch of `codex app-server`, with an open stdin that begins with the first request of the
 * protocol. A thread's rights are set when it is opened; all other settings use `-c`.
 */

import { agentOptions, EXTERNAL_SANDBOX_WARNING } from "../../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../../protocol/worker.ts";
import type { LaunchPlan, Opening, PlanContext } from "../../../adapter.ts";
import { asksPermission } from "../../../decoding/agent-rules.ts";
import { mcpLaunch } from "../../../mcp-launch.ts";
import { APPROVAL_POLICY, modelInArguments, QUIET, SANDBOX_MODE, serverSettings } from "../settings.ts";
import * as rpc from "./rpc.ts";
import { type AppServerState, begin, type ThreadWanted } from "./state.ts";

export const plan = (context: PlanContext): LaunchPlan => {
  const { spec, binary } = context;
  const mcp = mcpLaunch(context);
  const { addDirs, externalSandbox } = agentOptions(spec);
  const settings = [
    ...QUIET,
    // A JSON list of strings is also a TOML list.
    ...(addDirs.length === 0 ? [] : [`sandbox_workspace_write.writable_roots=${JSON.stringify(addDirs)}`]),
    ...serverSettings(mcp),
  ];
  return {
    argv: [binary, "app-server", ...settings.flatMap((setting) => ["-c", setting]), ...spec.argv],
    env: {},
    stdin: { kind: "open", text: rpc.initialize() },
    ...(mcp && { scripts: mcp.scripts, references: mcp.references }),
    ...(externalSandbox ? { warnings: [EXTERNAL_SANDBOX_WARNING] } : {}),
  };
};

export const initial = ({ spec, session: former }: Opening): AppServerState => {
  const { model, session, fork } = agentOptions(spec);
  return begin(spec, {
    cwd: spec.cwd,
    model: modelInArguments(spec) ?? model ?? null,
    ...policiesOf(spec),
    from: former === undefined ? (session ?? null) : { by: "id", id: former },
    // A later incarnation continues the branch.
    fork: fork && former === undefined,
  });
};

/**
 * A worker that asks uses "untrusted", so that codex asks about every command that is not known to be
 * read-only; with "on-request" the model would decide what to ask. An allowed command runs in a sandbox that
 * may write to the working directory.
 */
const policiesOf = (spec: WorkerSpec): Pick<ThreadWanted, "policy" | "sandbox"> => {
  const { ext, permission } = spec;
  const asks = asksPermission(spec);
  if (agentOptions(spec).externalSandbox || (permission === "allow" && !asks))
    return { policy: "never", sandbox: "danger-full-access" };
  const [policy, sandbox] = asks ? ["untrusted", "workspace-write"] : ["never", "read-only"];
  return {
    policy: String(ext[APPROVAL_POLICY] ?? policy),
    sandbox: String(ext[SANDBOX_MODE] ?? sandbox),
  };
};
