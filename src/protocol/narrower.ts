/**
 * Compares what two specs allow their agents (decision 0033). For each call that a rule could fit, the narrower spec must answer the same or
 * less. A pattern counts as narrower only where its text shows it. Pure.
 */

import type { Permission, PermissionRule } from "./permission.ts";
import { globFits } from "./permission-rules.ts";
import type { RestartPolicy, WorkerSpec } from "./worker.ts";

export type Permitted = Pick<WorkerSpec, "permission" | "permission_rules" | "approval_default">;

/** How much a request for permission is worth. One that nobody answers is denied, or is allowed. */
const levelOf = (action: Permission, { approval_default }: Permitted): number => {
  if (action === "deny") return 0;
  if (action === "allow") return 3;
  return approval_default === "deny" ? 1 : 2;
};

const textOf = ({ tool, argument }: PermissionRule): string =>
  argument === undefined ? tool : `${tool}(${argument})`;

/** Each text that `narrow` fits is one that `wide` fits: the stars of one are met by stars of the other alone. */
const covers = (wide: PermissionRule, narrow: PermissionRule): boolean =>
  globFits(wide.tool.toLowerCase(), narrow.tool.toLowerCase()) &&
  (wide.argument === undefined ||
    (narrow.argument !== undefined && globFits(wide.argument, narrow.argument)));

/** All that it may ever say to a call of which nothing is known. */
const highestOf = (spec: Permitted): number =>
  Math.max(
    levelOf(spec.permission, spec),
    ...spec.permission_rules.map(({ action }) => levelOf(action, spec)),
  );

/** Rights that `child` has and `parent` has not, as a flag each; undefined where there is nothing. */
export const widerPermission = (
  child: Permitted,
  parent: Permitted,
): { readonly child: string; readonly parent: string } | undefined => {
  const own = levelOf(child.permission, child);
  const bound = levelOf(parent.permission, parent);
  if (own > bound) return { child: permissionText(child), parent: permissionText(parent) };
  for (const rule of child.permission_rules) {
    const level = levelOf(rule.action, child);
    // A call of a tool that is not told fits rules that ask, and none that allows: one does not stand for the other.
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

const permissionText = ({ permission, permission_rules, approval_default }: Permitted): string => {
  const asks = permission === "ask" || permission_rules.some(({ action }) => action === "ask");
  return `--permission ${permission}${asks && approval_default === "allow" ? " --approval-default allow" : ""}`;
};

const ruleText = (rule: PermissionRule): string => `--${rule.action}-tool ${textOf(rule)}`;

const RESTARTS: Readonly<Record<RestartPolicy, number>> = { temporary: 0, transient: 1, permanent: 2 };

export const restartsMore = (one: RestartPolicy, other: RestartPolicy): boolean =>
  RESTARTS[one] > RESTARTS[other];
