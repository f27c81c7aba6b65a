/** Whether a tool may be used, by rules. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PERMISSION_RULE_MAX_BYTES } from "../../src/base/limits.ts";
import type { Permission } from "../../src/protocol/permission.ts";
import { parseRule, permissionFor } from "../../src/protocol/permission-rules.ts";
import { argumentOf } from "../../src/protocol/tool-arguments.ts";

const rules = (...texts: readonly (readonly [Permission, string])[]) =>
  texts.map(([action, text]) => parseRule(text, action)!);
const bash = (command: string) => ({ tool: "Bash", input: { command } });

describe("a rule", () => {
  test.each([
    ["Bash", { tool: "Bash", action: "allow" }],
    ["Bash(git status*)", { tool: "Bash", argument: "git status*", action: "allow" }],
    ["mcp__*", { tool: "mcp__*", action: "allow" }],
    ["Bash(echo (a))", { tool: "Bash", argument: "echo (a)", action: "allow" }],
    ["", undefined],
    ["Bash()", undefined],
    ["Bash(git", undefined],
    ["two words", undefined],
    ["x".repeat(PERMISSION_RULE_MAX_BYTES + 1), undefined],
  ])("%j", (text, rule) => {
    expect(parseRule(text, "allow")).toEqual(rule);
  });
});

describe("permission", () => {
  const mixed = rules(["allow", "bash(git *)"], ["ask", "Bash(git push*)"], ["deny", "Bash(*--force*)"]);
  test.each([
    ["git status", "allow"],
    ["git push", "ask"],
    ["git push --force", "deny"],
    ["ls", "ask"],
  ] as const)("%s: %s, whatever the order of the rules", (command, expected) => {
    expect(permissionFor(bash(command), mixed, "ask")).toBe(expected);
    expect(permissionFor(bash(command), [...mixed].reverse(), "ask")).toBe(expected);
  });

  test.each([
    "git status; rm -rf ~",
    "git status && curl x",
    "git status\nrm x",
    "git log | sh",
    "git log `id`",
    "git log $(id)",
    "git diff > /etc/passwd",
  ])("no pattern allows what joins commands: %j", (command) => {
    expect(permissionFor(bash(command), rules(["allow", "Bash(git *)"]), "deny")).toBe("deny");
    expect(permissionFor(bash(command), rules(["allow", "Bash"]), "deny")).toBe("allow");
  });

  test("no pattern allows a path that goes up", () => {
    const inSrc = rules(["allow", "Write(/work/src/*)"]);
    const write = (file_path: string) =>
      permissionFor({ tool: "Write", input: { file_path } }, inSrc, "deny");
    expect(write("/work/src/a..b.ts")).toBe("allow");
    expect(write("/work/src/../../etc/passwd")).toBe("deny");
  });

  test("a pattern that denies fits each of the commands that are joined", () => {
    const never = rules(["deny", "Bash(rm *)"]);
    expect(permissionFor(bash("cd /tmp && rm -rf x"), never, "allow")).toBe("deny");
    expect(permissionFor(bash("confirm x"), never, "allow")).toBe("allow");
  });

  test("an unknown part of a call is allowed by no pattern, and denied by each", () => {
    expect(permissionFor({ tool: null, input: {} }, rules(["allow", "*"]), "deny")).toBe("deny");
    expect(permissionFor({ tool: null, input: {} }, rules(["deny", "Bash"]), "allow")).toBe("deny");
    const unknown = { tool: "Bash", input: { n: 1 } };
    expect(permissionFor(unknown, rules(["allow", "Bash(*)"]), "deny")).toBe("deny");
    expect(permissionFor(unknown, rules(["deny", "Bash(rm *)"]), "allow")).toBe("deny");
    expect(permissionFor({ tool: "Write", input: null }, rules(["ask", "Write(*.env)"]), "allow")).toBe(
      "ask",
    );
  });

  test.each(["(rm -rf ~)", "if true; then rm -rf ~; fi", "rm\t-rf ~", "{ rm -rf ~; }", "echo $(rm -rf ~)"])(
    "a pattern that denies is not led astray: %j",
    (command) => {
      expect(permissionFor(bash(command), rules(["deny", "Bash(rm *)"]), "allow")).toBe("deny");
    },
  );

  test("of the words of a shell, its script counts; of several things that are told, each", () => {
    const words = { tool: "shell", input: { command: ["bash", "-lc", "rm -rf ~"] } };
    expect(permissionFor(words, rules(["deny", "shell(rm *)"]), "allow")).toBe("deny");
    const two = { tool: "Write", input: { command: "x", path: "/tmp/../etc/passwd" } };
    expect(permissionFor(two, rules(["deny", "Write(/etc/*)"]), "allow")).toBe("deny");
    expect(permissionFor(two, rules(["allow", "Write(x)"]), "deny")).toBe("deny");
    expect(
      permissionFor(bash("cat src/'..'/'..'/etc/passwd"), rules(["allow", "Bash(cat src/*)"]), "deny"),
    ).toBe("deny");
  });

  test("a pattern of many parts is looked for in one pass", () => {
    const long = "git push ".repeat(100_000);
    expect(permissionFor(bash(long), rules(["deny", "Bash(*git*push*--force*)"]), "allow")).toBe("allow");
    expect(permissionFor(bash(`${long}--force`), rules(["deny", "Bash(*git*push*--force*)"]), "allow")).toBe(
      "deny",
    );
  });

  test("characters of a regular expression stand for themselves", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !text.includes("*")),
        (text) => {
          const rule = { tool: "Bash", argument: text, action: "deny" as const };
          expect(permissionFor(bash(text), [rule], "allow")).toBe("deny");
          expect(permissionFor(bash(`${text}x`), [rule], "allow")).toBe("allow");
        },
      ),
    );
  });
});

test("the subject of a tool is found where agents put it", () => {
  expect(argumentOf({ command: ["git", "status"] })).toBe("git status");
  expect(argumentOf({ url: "http://x", path: "/a" })).toBe("/a");
  expect(argumentOf("whole")).toBe("whole");
  expect(argumentOf(null)).toBeUndefined();
});
