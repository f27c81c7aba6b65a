/**
 * Compares the rights of a child with those of the worker that spawns it (decision 0033). A command has no permissions:
 * only a sandbox restricts it. Pure.
 */

import { facts as skillFacts } from "../../adapters/kinds/skill/facts.ts";
import { PROGRAM_KIND } from "../../adapters/kinds.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { addedDirectories, agentOptions } from "../../protocol/extensions.ts";
import { type PermissionSpec, restartsMore, widerPermission } from "../../protocol/narrower.ts";
import type { RestartPolicy, WorkerSpec } from "../../protocol/worker.ts";
import { isIn } from "../../workspace/sandbox/plan.ts";

const EVERYTHING: PermissionSpec = { permission: "allow", permission_rules: [], approval_default: "deny" };

const permittedTo = (spec: WorkerSpec): PermissionSpec =>
  spec.kind === PROGRAM_KIND || agentOptions(spec).externalSandbox ? EVERYTHING : spec;

const isEverything = ({ permission, permission_rules }: PermissionSpec): boolean =>
  permission === "allow" && permission_rules.every(({ action }) => action === "allow");

/** True if the worker may do less than its user: it has a sandbox or permission rules. */
export const isReduced = (spec: WorkerSpec): boolean =>
  spec.sandbox !== undefined || !isEverything(permittedTo(spec));

/** True if the worker has reduced rights, or limits on its budget or on what it spawns. */
export const isBounded = (spec: WorkerSpec): boolean =>
  isReduced(spec) ||
  spec.max_depth !== undefined ||
  spec.max_concurrency !== undefined ||
  Object.values(spec.budget).some((bound) => bound !== undefined);

/** A spec and the facts looked up for it. */
export interface Party {
  readonly spec: WorkerSpec;
  readonly default_restart: RestartPolicy;
  /** Directories, with links resolved, in which its agent may write inside a sandbox. Its workspace is the first. */
  readonly roots: readonly string[];
}

/** The directories of a spec that its sandbox would make writable. */
export const rootsOf = (spec: WorkerSpec, cwd = spec.cwd): readonly string[] => [
  cwd,
  ...addedDirectories(spec),
  ...(spec.sandbox?.writable ?? []),
];

/** One right of the child that is wider than its parent's. */
export interface WiderRight {
  readonly what:
    | "permission"
    | "arguments"
    | "mcp"
    | "sandbox"
    | "network"
    | "writable"
    | "worktree"
    | "restart";
  readonly child: string;
  readonly parent: string;
}

export const widerRight = (child: Party, parent: Party): WiderRight | undefined =>
  widerTools(child.spec, parent.spec) ?? widerSandbox(child, parent) ?? widerRestart(child, parent);

const widerTools = (child: WorkerSpec, parent: WorkerSpec): WiderRight | undefined => {
  const bound = permittedTo(parent);
  const wider = widerPermission(permittedTo(child), bound);
  if (wider !== undefined)
    return child.kind === PROGRAM_KIND
      ? { what: "permission", child: "a command, which no permission bounds", parent: wider.parent }
      : { what: "permission", ...wider };
  // Extra arguments could tell the CLI to allow anything. Those of a skill are the runtime's own.
  if (
    !isEverything(bound) &&
    child.kind !== PROGRAM_KIND &&
    child.kind !== skillFacts.kind &&
    child.argv.some((arg) => !parent.argv.includes(arg))
  )
    return {
      what: "arguments",
      child: "extra arguments of its CLI",
      parent: `--permission ${bound.permission}`,
    };
  // A server is a program that no permission bounds.
  const server = Object.entries(child.mcp ?? {}).find(
    ([name, one]) => canonicalJson(one) !== canonicalJson(parent.mcp?.[name] ?? null),
  );
  if (!isEverything(bound) && server !== undefined)
    return { what: "mcp", child: `the MCP server ${server[0]}`, parent: `--permission ${bound.permission}` };
  return undefined;
};

const netOf = ({ kind, sandbox }: WorkerSpec): "none" | "host" =>
  sandbox === undefined ? "host" : (sandbox.net ?? (kind === PROGRAM_KIND ? "none" : "host"));

const widerSandbox = (child: Party, parent: Party): WiderRight | undefined => {
  if (parent.spec.sandbox === undefined) return undefined;
  if (child.spec.sandbox === undefined)
    return { what: "sandbox", child: "no sandbox", parent: "--sandbox workspace" };
  if (netOf(child.spec) === "host" && netOf(parent.spec) === "none")
    return { what: "network", child: "--sandbox-net host", parent: "--sandbox-net none" };
  if (child.spec.worktree !== undefined && parent.spec.worktree === undefined)
    return { what: "worktree", child: "a worktree, whose repository it writes to", parent: "none" };
  const outside = child.roots.find((path) => !parent.roots.some((root) => isIn(path, root)));
  return outside === undefined
    ? undefined
    : { what: "writable", child: `write access to ${outside}`, parent: parent.roots.join(", ") };
};

/** Each kind has its own default policy. If neither spec names a policy, the child asked for nothing wider. */
const widerRestart = (child: Party, parent: Party): WiderRight | undefined => {
  const [own, bound] = [child.spec.restart, parent.spec.restart];
  const isUnsaid = own === child.default_restart && bound === parent.default_restart;
  return restartsMore(own, bound) && !isUnsaid
    ? { what: "restart", child: `--restart ${own}`, parent: `--restart ${bound}` }
    : undefined;
};
