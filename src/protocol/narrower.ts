/**
 * Compares the permissions of two specs (decision 0033). The narrower spec must allow the same or less for every call that a
 * rule could match. A pattern counts as narrower only if its text proves it. Pure.
 */

import type { Permission, PermissionRule } from "./permission.ts";
import { globFits } from "./permission-rules.ts";
import type { RestartPolicy, WorkerSpec } from "./worker.ts";

export type PermissionSpec = Pick<WorkerSpec, "permission" | "permission_rules" | "approval_default">;

/** How permissive an action is. An unanswered request is denied or allowed, as `approval_default` says. */
const levelOf = (action: Permission, { approval_default }: PermissionSpec): number => {
  if (action === "deny") return 0;
  if (action === "allow") return 3;
  return approval_default === "deny" ? 1 : 2;
};

const textOf = ({ tool, argument }: PermissionRule): string =>
  argument === undefined ? tool : `${tool}(${argument})`;

/** Every text that `narrow` matches, `wide` matches too: a star of `narrow` can only be matched by a star of `wide`. */
const covers = (wide: PermissionRule, narrow: PermissionRule): boolean =>
  globFits(wide.tool.toLowerCase(), narrow.tool.toLowerCase()) &&
  (wide.argument === undefined ||
    (narrow.argument !== undefined && globFits(wide.argument, narrow.argument)));

/** The most permissive answer that the spec can give to an unknown call. */
const highestOf = (spec: PermissionSpec): number =>
  Math.max(
    levelOf(spec.permission, spec),
    ...spec.permission_rules.map(({ action }) => levelOf(action, spec)),
  );

/** The first right of `child` that goes beyond `parent`, as the flag of each spec; undefined if there is none. */
export const widerPermission = (
  child: PermissionSpec,
  parent: PermissionSpec,
): { readonly child: string; readonly parent: string } | undefined => {
  const own = levelOf(child.permission, child);
  const bound = levelOf(parent.permission, parent);
  if (own > bound) return { child: permissionText(child), parent: permissionText(parent) };
  for (const rule of child.permission_rules) {
    const level = levelOf(rule.action, child);
    // A call of an unknown tool matches rules that ask, but none that allow, so a rule stands only for one with the same
    // action.
    const isCovered = parent.permission_rules.some(
      (wide) => wide.action === rule.action && levelOf(wide.action, parent) >= level && covers(wide, rule),
    );
    if (level > bound && !isCovered) return { child: ruleText(rule), parent: permissionText(parent) };
  }
  for (const rule of parent.permission_rules) {
    const level = levelOf(rule.action, parent);
    const isKept =
      highestOf(child) <= level ||
      child.permission_rules.some((one) => levelOf(one.action, child) <= level && covers(one, rule));
    if (!isKept) return { child: permissionText(child), parent: ruleText(rule) };
  }
  return undefined;
};

const permissionText = ({ permission, permission_rules, approval_default }: PermissionSpec): string => {
  const asks = permission === "ask" || permission_rules.some(({ action }) => action === "ask");
  return `--permission ${permission}${asks && approval_default === "allow" ? " --approval-default allow" : ""}`;
};

const ruleText = (rule: PermissionRule): string => `--${rule.action}-tool ${textOf(rule)}`;

const RESTARTS: Readonly<Record<RestartPolicy, number>> = { temporary: 0, transient: 1, permanent: 2 };

export const restartsMore = (one: RestartPolicy, other: RestartPolicy): boolean =>
  RESTARTS[one] > RESTARTS[other];
