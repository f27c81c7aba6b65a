/** The spec of a worker as the rows of a cluster have it: without what only the machine of its caller knows, and without a secret. */
import { KIND_VARIABLES } from "../../adapters/kinds.ts";
import { clientEnvironment, referencedVariables } from "../../base/environment.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { mcpVariables } from "../../protocol/mcp-references.ts";
import { makeRedactor } from "../../protocol/redact.ts";
import { WorkerSpec } from "../../protocol/worker.ts";

const { value: masked, env: maskedEnv } = makeRedactor();

/** Throws INVALID_REQUEST if the spec has a secret: everybody who reads the database would have it. */
export const placedText = (name: string, asked: WorkerSpec): string => {
  const { client_env: _, parent: __, placement: ___, placed: ____, trace: _____, ...spec } = asked;
  const text = canonicalJson({ ...spec, name });
  if (canonicalJson({ ...masked(spec), name, env: maskedEnv(spec.env) }) === text) return text;
  throw new HoldfastError(
    "INVALID_REQUEST",
    "The spec has a secret, and a cluster keeps specs in its database.",
    {
      phase: "validation",
      suggestion: "Give the secret as @env:NAME or @file:PATH: the node reads it at each start.",
    },
  );
};

/** Its variables are those of the daemon that starts it. An error for a spec that this Holdfast cannot read. */
export const launchSpec = (text: string, stateDir: string): WorkerSpec | HoldfastError => {
  const parsed = WorkerSpec.safeParse(JSON.parse(text));
  if (!parsed.success)
    return new HoldfastError(
      "INVALID_REQUEST",
      "Its node has another version of Holdfast and cannot read its spec.",
    );
  const { inherit_env, env, mcp } = parsed.data;
  const named = [...KIND_VARIABLES, ...inherit_env, ...referencedVariables(env), ...mcpVariables(mcp)];
  return {
    ...parsed.data,
    client_env: clientEnvironment({ ...process.env, HOLDFAST_HOME: stateDir }, named),
  };
};
