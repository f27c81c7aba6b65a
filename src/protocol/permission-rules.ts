/**
 * Whether a tool may be used, by the rules of a worker's spec. A rule names a tool and, in brackets, what its argument must
 * look like: `Bash(git status*)`; `*` stands for anything. Of the rules that fit, `deny` wins over `ask`, and `ask` over `allow`
 * (the order of Claude Code's own permission rules); where none fits the worker's `permission` decides. Pure.
 */
import { PERMISSION_RULE_MAX_BYTES } from "./limits.ts";
import type { Permission, PermissionRule } from "./permission.ts";

/** `TOOL` or `TOOL(ARGUMENT)`; undefined where it is neither. */
export const parseRule = (text: string, action: Permission): PermissionRule | undefined => {
  const found = /^([^()\s]+)(?:\(([\s\S]+)\))?$/.exec(text.trim());
  const [, tool, argument] = found ?? [];
  if (tool === undefined || Buffer.byteLength(text) > PERMISSION_RULE_MAX_BYTES) return undefined;
  return argument === undefined ? { tool, action } : { tool, argument, action };
};

export interface PermissionRequest {
  readonly tool: string | null;
  readonly input: unknown;
}

export const permissionFor = (
  { tool, input }: PermissionRequest,
  rules: readonly PermissionRule[],
  otherwise: Permission,
): Permission => {
  const argument = argumentOf(input);
  const fits = (rule: PermissionRule): boolean =>
    tool !== null && glob(rule.tool, "i").test(tool) && argumentFits(rule, argument);
  for (const action of ["deny", "ask", "allow"] as const)
    if (rules.some((rule) => rule.action === action && fits(rule))) return action;
  return otherwise;
};

/**
 * A pattern that allows must not be led astray: a shell reads `git status; rm -rf ~` as two commands, and `src/../../etc` is
 * not below `src/`. So no pattern allows what joins commands or goes up; one that denies or asks fits any part of it.
 */
const argumentFits = (
  { argument: pattern, action }: PermissionRule,
  argument: string | undefined,
): boolean => {
  if (pattern === undefined) return true;
  if (argument === undefined) return false;
  if (action === "allow")
    return !JOINS_COMMANDS.test(argument) && !GOES_UP.test(argument) && glob(pattern).test(argument);
  return (
    argument.split(JOINS_COMMANDS).some((part) => glob(pattern).test(part.trim())) ||
    glob(pattern).test(argument)
  );
};

const GOES_UP = /(^|[\s/=])\.\.($|[\s/])/;
const JOINS_COMMANDS = /[;&|\n\r`<>]|\$[({]/;

/** Where agents put what a tool is about, most telling first. */
const ARGUMENTS = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "absolute_path",
  "path",
  "url",
  "query",
  "pattern",
] as const;

/** What a rule's pattern is compared with; undefined where the tool is called with no such thing. */
export const argumentOf = (input: unknown): string | undefined => {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return undefined;
  for (const name of ARGUMENTS) {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === "string") return value;
    if (Array.isArray(value) && value.every((part) => typeof part === "string")) return value.join(" ");
  }
  return undefined;
};

const glob = (pattern: string, flags = ""): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"))
      .join("[\\s\\S]*")}$`,
    flags,
  );
