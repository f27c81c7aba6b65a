/** How a spec says what an agent may do unasked; `permission-rules.ts` says what follows. */
import * as z from "zod";
import { PERMISSION_RULE_MAX_BYTES, PERMISSION_RULES_MAX } from "../base/limits.ts";

export const Permission = z.enum(["ask", "deny", "allow"]);
export type Permission = z.infer<typeof Permission>;

export const PermissionRule = z.strictObject({
  /** Name of the tool as the agent calls it, in any case; `*` stands for anything. */
  tool: z.string().min(1).max(PERMISSION_RULE_MAX_BYTES),
  /** A pattern for its argument: the command, path, URL or query. Without it, whatever it is called with. */
  argument: z.string().min(1).max(PERMISSION_RULE_MAX_BYTES).optional(),
  action: Permission,
});
export type PermissionRule = z.infer<typeof PermissionRule>;
export const PermissionRules = z.array(PermissionRule).max(PERMISSION_RULES_MAX).readonly();
