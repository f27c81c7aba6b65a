/** One policy for all tools: rules first, then the permission; a tool that only reads needs none. */
import { describe, expect, it } from "vitest";
import type { OfferedTool } from "../../../src/engine/tools/offered.ts";
import { toolName } from "../../../src/engine/tools/offered.ts";
import { isHopeless, verdictOn } from "../../../src/engine/tools/policy.ts";
import type { Permission } from "../../../src/protocol/permission.ts";
import { parseRule } from "../../../src/protocol/permission-rules.ts";

const tool = (name: string, only_reads: boolean): OfferedTool => ({
  name,
  description: "",
  input_schema: {},
  is_idempotent: only_reads,
  only_reads,
});
const READ = tool("fs_read", true);
const WRITE = tool("notes_write", false);

const policyOf = (permission: Permission, rules: string) => ({
  permission,
  rules: rules
    .split(" ")
    .filter((text) => text !== "")
    .map((text) => {
      const [action, rule] = text.split(":") as [Permission, string];
      return parseRule(rule, action)!;
    }),
});

describe("a call", () => {
  it.each([
    ["deny", "", READ, "allow"],
    ["deny", "", WRITE, "deny"],
    ["ask", "", READ, "allow"],
    ["ask", "", WRITE, "ask"],
    ["allow", "", WRITE, "allow"],
    ["deny", "allow:notes_write", WRITE, "allow"],
    ["deny", "allow:notes_write(src/*)", WRITE, "allow"],
    ["deny", "allow:notes_write(test/*)", WRITE, "deny"],
    ["allow", "ask:notes_*", WRITE, "ask"],
    ["allow", "deny:fs_read(src/*)", READ, "deny"],
    ["allow", "deny:fs_read(test/*)", READ, "allow"],
    ["deny", "ask:fs_read", READ, "ask"],
  ] as const)("--permission %s with %j", (permission, rules, given, decision) => {
    const call = { id: "c", name: given.name, input: { path: "src/a.ts" } };
    expect(verdictOn(call, given, policyOf(permission, rules)).decision).toBe(decision);
  });

  it("asks in one sentence, and says why it denies", () => {
    const call = { id: "c", name: "notes_write", input: { path: "a.txt", text: "x" } };
    expect(verdictOn(call, WRITE, policyOf("ask", ""))).toEqual({
      decision: "ask",
      title: "notes_write: a.txt",
    });
    expect(verdictOn(call, WRITE, policyOf("deny", ""))).toEqual({
      decision: "deny",
      reason: "The permissions of this agent do not allow notes_write.",
    });
    expect(verdictOn({ ...call, name: "nothing" }, undefined, policyOf("allow", ""))).toEqual({
      decision: "deny",
      reason: "There is no tool nothing.",
    });
  });
});

describe("a tool is offered unless no call of it can be allowed", () => {
  it.each([
    ["deny", "", READ, false],
    ["deny", "", WRITE, true],
    ["ask", "", WRITE, false],
    ["allow", "", WRITE, false],
    ["deny", "allow:notes_write(src/*)", WRITE, false],
    ["deny", "ask:notes_write", WRITE, false],
    ["allow", "deny:notes_write", WRITE, true],
    ["allow", "deny:notes_write(src/*)", WRITE, false],
    ["allow", "deny:fs_read", READ, true],
    ["deny", "deny:notes_write allow:notes_write(src/*)", WRITE, true],
  ] as const)("--permission %s with %j", (permission, rules, given, hopeless) => {
    expect(isHopeless(given, policyOf(permission, rules))).toBe(hopeless);
  });
});

describe("a name", () => {
  it.each(["fs_read", "mcp__files__read-all", "a".repeat(64)])("stays: %s", (name) => {
    expect(toolName(name)).toBe(name);
  });

  it("that no provider takes is changed, and stays unique", () => {
    const names = ["a b", "a.b", `${"a".repeat(65)}1`, `${"a".repeat(65)}2`, ""].map(toolName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });
});
