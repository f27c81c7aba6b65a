/** The spec of a worker as the rows of a cluster have it: without what only the machine of its caller knows, and without a secret. */
import * as z from "zod";
import { KIND_VARIABLES } from "../../adapters/kinds.ts";
import { clientEnvironment, referencedVariables } from "../../base/environment.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { mcpVariables } from "../../protocol/mcp-references.ts";
import { makeRedactor } from "../../protocol/redact.ts";
import { TreeBudget, WorkerSpec } from "../../protocol/worker.ts";

const { value: masked, env: maskedEnv } = makeRedactor();

/** Throws INVALID_REQUEST if the spec has a secret: everybody who reads the database would have it. */
export const placedText = (name: string, asked: WorkerSpec, tree_budget?: TreeBudget): string => {
  const { client_env: _, parent: __, placement: ___, placed: ____, trace: _____, ...spec } = asked;
  const text = canonicalJson({ ...spec, name });
  const isOpen = canonicalJson({ ...masked(spec), name, env: maskedEnv(spec.env) }) === text;
  if (isOpen) return tree_budget === undefined ? text : canonicalJson({ ...spec, name, tree_budget });
  throw new HoldfastError(
    "INVALID_REQUEST",
    "The spec has a secret, and a cluster keeps specs in its database.",
    {
      phase: "validation",
      suggestion: "Give the secret as @env:NAME or @file:PATH: the node reads it at each start.",
    },
  );
};

/** A Holdfast that knows no budget of a tree refuses the whole text, so that no node spends from one unseen. */
const PlacedText = z.looseObject({ tree_budget: TreeBudget.optional() });

export interface LaunchSpec {
  readonly spec: WorkerSpec;
  readonly tree: TreeBudget | undefined;
}

/** Its variables are those of the daemon that starts it. An error for a spec that this Holdfast cannot read. */
export const launchSpec = (text: string, stateDir: string): LaunchSpec | HoldfastError => {
  const read = PlacedText.safeParse(JSON.parse(text));
  const { tree_budget, ...given } = read.success ? read.data : {};
  const parsed = WorkerSpec.safeParse(given);
  if (!read.success || !parsed.success)
    return new HoldfastError(
      "INVALID_REQUEST",
      "Its node has another version of Holdfast and cannot read its spec.",
    );
  const { inherit_env, env, mcp } = parsed.data;
  const named = [...KIND_VARIABLES, ...inherit_env, ...referencedVariables(env), ...mcpVariables(mcp)];
  const client_env = clientEnvironment({ ...process.env, HOLDFAST_HOME: stateDir }, named);
  return { spec: { ...parsed.data, client_env }, tree: tree_budget };
};
