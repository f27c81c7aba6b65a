/**
 * One policy for all tools of an agent, in the words of every kind: the rules of its spec, then its `permission`. A tool that
 * only reads needs no permission, but a rule may still ask or deny. Pure.
 */
import type { Permission, PermissionRule } from "../../protocol/permission.ts";
import { permissionFor } from "../../protocol/permission-rules.ts";
import { argumentOf } from "../../protocol/tool-arguments.ts";
import type { ToolCall } from "../model.ts";
import type { ToolVerdict } from "../tools.ts";
import type { OfferedTool } from "./offered.ts";

export interface ToolPolicy {
  readonly permission: Permission;
  readonly rules: readonly PermissionRule[];
}

/** UTF-16 units of an argument in the question to a person. */
const ARGUMENT_SHOWN_MAX = 200;

const without = ({ only_reads }: OfferedTool, { permission }: ToolPolicy): Permission =>
  only_reads ? "allow" : permission;

export const verdictOn = (
  { name, input }: ToolCall,
  tool: OfferedTool | undefined,
  policy: ToolPolicy,
): ToolVerdict => {
  if (tool === undefined) return { decision: "deny", reason: `There is no tool ${name.slice(0, 128)}.` };
  switch (permissionFor({ tool: name, input }, policy.rules, without(tool, policy))) {
    case "allow":
      return { decision: "allow" };
    case "ask":
      return { decision: "ask", title: titleOf(name, input) };
    case "deny":
      return { decision: "deny", reason: `The permissions of this agent do not allow ${name}.` };
  }
};

const titleOf = (name: string, input: unknown): string => {
  const argument = argumentOf(input);
  return argument === undefined ? name : `${name}: ${argument.slice(0, ARGUMENT_SHOWN_MAX)}`;
};

/** Whether no call of the tool can be allowed, so that the model need not hear of it. */
export const isHopeless = (tool: OfferedTool, policy: ToolPolicy): boolean => {
  const { name } = tool;
  // A rule with a pattern may fit some call, and may not fit another.
  const whole = policy.rules.filter(({ argument }) => argument === undefined);
  const hopes = policy.rules
    .filter(({ action }) => action !== "deny")
    .map((rule) => ({ ...rule, argument: undefined }));
  const best = permissionFor({ tool: name, input: {} }, hopes, without(tool, policy));
  return (
    best === "deny" ||
    permissionFor(
      { tool: name, input: {} },
      whole.filter(({ action }) => action === "deny"),
      "allow",
    ) === "deny"
  );
};
