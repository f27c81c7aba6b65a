/**
 * How codex is spoken with: `codex app-server` with its stdin open, and the first request of the protocol in it. The rights of a thread go with its thread; all other settings by `-c`.
 */

import { agentOptions, EXTERNAL_SANDBOX_WARNING } from "../../../../protocol/extensions.ts";
import type { WorkerSpec } from "../../../../protocol/worker.ts";
import type { LaunchPlan, Opening, PlanContext } from "../../../adapter.ts";
import { asksPermission } from "../../../decoding/agent-rules.ts";
import { APPROVAL_POLICY, modelInArguments, QUIET, SANDBOX_MODE } from "../settings.ts";
import * as rpc from "./rpc.ts";
import { type AppServerState, begin, type ThreadWanted } from "./state.ts";

export const plan = ({ spec, binary }: PlanContext): LaunchPlan => {
  const { addDirs, externalSandbox } = agentOptions(spec);
  const settings = [
    ...QUIET,
    // A JSON list of strings is one of TOML.
    ...(addDirs.length === 0 ? [] : [`sandbox_workspace_write.writable_roots=${JSON.stringify(addDirs)}`]),
  ];
  return {
    argv: [binary, "app-server", ...settings.flatMap((setting) => ["-c", setting]), ...spec.argv],
    env: {},
    stdin: { kind: "open", text: rpc.initialize() },
    ...(externalSandbox ? { warnings: [EXTERNAL_SANDBOX_WARNING] } : {}),
  };
};

export const initial = ({ spec, session: former }: Opening): AppServerState => {
  const { model, session, fork } = agentOptions(spec);
  return begin(spec.interactive, {
    cwd: spec.cwd,
    model: modelInArguments(spec) ?? model ?? null,
    ...policiesOf(spec),
    from: former === undefined ? (session ?? null) : { by: "id", id: former },
    // A later incarnation goes on in the branch.
    fork: fork && former === undefined,
  });
};

/**
 * Whoever asks, asks about every command that is not known to only read ("untrusted"): "on-request" lets the model say what
 * is asked about. A command that is allowed runs in a sandbox that may write in the working directory.
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
