/**
 * Decides by the rules of a worker's spec whether a tool call is allowed. A rule names a tool and, in brackets, a pattern
 * for its argument: `Bash(git status*)`; `*` matches anything. Among the matching rules `deny` wins over `ask`, and `ask`
 * over `allow` (the order of Claude Code's own permission rules). If none matches, the worker's `permission` decides. If the
 * argument of a call is unknown, no rule with a pattern allows it, and each that denies or asks matches. Pure.
 */
import { posix } from "node:path";
import { PERMISSION_RULE_MAX_BYTES } from "../base/limits.ts";
import type { Permission, PermissionRule } from "./permission.ts";
import { argumentsOf } from "./tool-arguments.ts";

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
