/**
 * Decides by the rules of a worker's spec whether a tool call is allowed. A rule names a tool and, in brackets, a pattern
 * for its argument: `Bash(git status*)`; `*` matches anything. Among the matching rules `deny` wins over `ask`, and `ask`
 * over `allow` (the order of Claude Code's own permission rules). If none matches, the worker's `permission` decides. If the
 * argument of a call is unknown, no rule with a pattern allows it, and each that denies or asks matches. Pure.
 */
import { posix } from "node:path";
import { PERMISSION_RULE_MAX_BYTES } from "../base/limits.ts";
import type { Permission, PermissionRule } from "./permission.ts";

/** Parses `TOOL` or `TOOL(ARGUMENT)`; undefined for anything else. */
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
 * A pattern that allows must not be tricked: a shell reads `git status; rm -rf ~` as two commands, and `src/../../etc` is
 * not below `src/`. So no pattern allows an argument that joins commands or goes up; a pattern that denies or asks matches
 * any part of it.
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

/** Shell words that stand before a command. */
const RESERVED = /^(?:(?:if|then|elif|else|while|until|do|time|exec|command|!)\s+)+/;

/** The whole argument, and each command in it: as written, without reserved words and extra spaces, and with its path normalised. */
const partsOf = (argument: string): readonly string[] => [
  argument,
  ...argument.split(JOINS_COMMANDS).flatMap((part) => {
    const plain = part.trim().replace(/\s+/g, " ").replace(RESERVED, "");
    return [part.trim(), plain, posix.normalize(plain)];
  }),
];

/** Keys under which agents put the argument of a tool, the most telling first. */
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

/**
 * The texts that a rule's pattern is compared with; for a list of shell words, the whole line and its script. Empty if the
 * input has none of the known keys.
 */
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

/** The argument of a request, for lists that people read. */
export const argumentOf = (input: unknown): string | undefined => argumentsOf(input)[0];

/**
 * Whether a text matches a pattern in which `*` stands for anything. In one pass, because an agent could choose a text that
 * makes backtracking slow.
 */
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
