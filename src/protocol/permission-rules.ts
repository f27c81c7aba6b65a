/**
 * Whether a tool may be used, by the rules of a worker's spec. A rule names a tool and, in brackets, what its argument must
 * look like: `Bash(git status*)`; `*` stands for anything. Among the rules that fit, `deny` wins over `ask`, and `ask` over `allow`
 * (the order of Claude Code's own permission rules); where none fits the worker's `permission` decides. The argument of a call may be
 * unknown: then no pattern allows it, and each that denies or asks fits. Pure.
 */
import { posix } from "node:path";
import { PERMISSION_RULE_MAX_BYTES } from "../base/limits.ts";
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
  const given = argumentsOf(input);
  const fits = (rule: PermissionRule): boolean =>
    (tool === null ? rule.action !== "allow" : globFits(rule.tool.toLowerCase(), tool.toLowerCase())) &&
    argumentFits(rule, given);
  for (const action of ["deny", "ask", "allow"] as const)
    if (rules.some((rule) => rule.action === action && fits(rule))) return action;
  return otherwise;
};

/**
 * A pattern that allows must not be led astray: a shell reads `git status; rm -rf ~` as two commands, and `src/../../etc` is
 * not below `src/`. So no pattern allows what joins commands or goes up; one that denies or asks fits any part of it.
 */
const argumentFits = ({ argument: pattern, action }: PermissionRule, given: readonly string[]): boolean => {
  if (pattern === undefined) return true;
  if (action === "allow")
    return given.length > 0 && given.every((one) => !isManifold(one) && globFits(pattern, one));
  return given.length === 0 || given.some((one) => partsOf(one).some((part) => globFits(pattern, part)));
};

const GOES_UP = /(^|[\s/=])\.\.($|[\s/])/;
const JOINS_COMMANDS = /[;&|\n\r`<>(){}]|\$[({]/;
const isManifold = (argument: string): boolean =>
  JOINS_COMMANDS.test(argument) || GOES_UP.test(argument.replace(/['"\\]/g, ""));

/** Before the command that they are about. */
const RESERVED = /^(?:(?:if|then|elif|else|while|until|do|time|exec|command|!)\s+)+/;

/** The whole, and each of the commands in it, as they are and as they mean. */
const partsOf = (argument: string): readonly string[] => [
  argument,
  ...argument.split(JOINS_COMMANDS).flatMap((part) => {
    const plain = part.trim().replace(/\s+/g, " ").replace(RESERVED, "");
    return [part.trim(), plain, posix.normalize(plain)];
  }),
];

/** Keys under which agents put what a tool is about, most telling first. */
const ARGUMENTS = [
  "command",
  "cmd",
  "script",
  "file_path",
  "filePath",
  "absolute_path",
  "path",
  "url",
  "query",
  "pattern",
] as const;

/** All that a rule's pattern is compared with; of a shell's words the whole line and its script. None where nothing of that kind is told. */
const argumentsOf = (input: unknown): readonly string[] => {
  if (typeof input === "string") return [input];
  if (typeof input !== "object" || input === null) return [];
  return ARGUMENTS.flatMap((name) => {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === "string") return [value];
    if (!Array.isArray(value) || !value.every((part) => typeof part === "string")) return [];
    const script = /^-\w*c$/.test(value.at(-2) ?? "") ? value.at(-1) : undefined;
    return script === undefined ? [value.join(" ")] : [script];
  });
};

/** The argument of a request, for people who read a list of them. */
export const argumentOf = (input: unknown): string | undefined => argumentsOf(input)[0];

/** Whether a text is as the pattern says, in which `*` stands for anything. In one pass: texts are the agent's, and may be made to last. */
export const globFits = (pattern: string, text: string): boolean => {
  const parts = pattern.split("*");
  const first = parts.shift() as string;
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
};
