/** Roles: what an agent that another one asks for is started as. Users add theirs in `config.yaml`; a role of the same name replaces a built-in one. */
import * as z from "zod";
import {
  DEPTH_MAX,
  NAME_MAX_BYTES,
  PERMISSION_RULES_MAX,
  PROMPT_MAX_BYTES,
  ROLES_MAX,
} from "../base/limits.ts";
import { AgentKind } from "./agent-event.ts";
import { Permission } from "./permission.ts";
import { parseRule } from "./permission-rules.ts";
import { PROFILE_NAMES } from "./words.ts";

export const RoleName = z
  .string()
  .max(NAME_MAX_BYTES)
  .regex(
    /^[a-z0-9][a-z0-9_-]*$/,
    "a role has small letters, digits, '_' and '-', and starts with a letter or digit",
  );

export const Role = z.strictObject({
  /** The kind of its agents. Default: that of the worker that asks. */
  kind: AgentKind.optional(),
  model: z.string().max(256).optional(),
  /** The program and its arguments, for the kind `command`; the task is its stdin. */
  argv: z.array(z.string()).max(256).optional(),
  /** Decides calls that no tool covers. Default: `deny` if there are tools, else that of the worker that asks. */
  permission: Permission.optional(),
  /** The only tools that it may use without asking: `Read`, `Bash(git status*)`. An empty list allows none. */
  allowed_tools: z
    .array(
      z
        .string()
        .refine(
          (text) => parseRule(text, "allow") !== undefined,
          "it is no tool, such as Read or Bash(git status*)",
        ),
    )
    .max(PERMISSION_RULES_MAX)
    .optional(),
  /** Stands before each task. */
  prompt: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= PROMPT_MAX_BYTES, "it is over 1 MB")
    .optional(),
  /** The skills that it may run: those of this profile, and of all above it. Default: the profile of the worker that asks. */
  profile: z.enum(PROFILE_NAMES).optional(),
  /** How many levels of agents it may have below it; 0 is none. */
  depth: z.int().min(0).max(DEPTH_MAX).optional(),
});
export type Role = z.output<typeof Role>;

export const Roles = z
  .record(RoleName, Role)
  .refine((roles) => Object.keys(roles).length <= ROLES_MAX, `there are over ${ROLES_MAX}`);
export type Roles = z.output<typeof Roles>;

/** An overseer may ask for others; a worker and a companion may not, and a companion uses no tool that needs a permission. */
export const BUILT_IN_ROLES: Roles = {
  overseer: { profile: "overseer" },
  worker: { depth: 0, profile: "worker" },
  companion: { depth: 0, allowed_tools: [], profile: "companion" },
};
