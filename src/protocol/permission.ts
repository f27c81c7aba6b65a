/** How a spec states an agent's permissions; `permission-rules.ts` applies them. */
import * as z from "zod";
import { PERMISSION_RULE_MAX_BYTES, PERMISSION_RULES_MAX } from "../base/limits.ts";

export const Permission = z.enum(["ask", "deny", "allow"]);
export type Permission = z.infer<typeof Permission>;

export const PermissionRule = z.strictObject({
  /** The name of the tool as the agent spells it, in any case; `*` stands for anything. */
  tool: z.string().min(1).max(PERMISSION_RULE_MAX_BYTES),
  /** A pattern for the argument: the command, path, URL or query. Without it the rule matches every call of the tool. */
  argument: z.string().min(1).max(PERMISSION_RULE_MAX_BYTES).optional(),
  action: Permission,
});
export type PermissionRule = z.infer<typeof PermissionRule>;
export const PermissionRules = z.array(PermissionRule).max(PERMISSION_RULES_MAX).readonly();
