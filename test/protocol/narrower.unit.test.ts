import { describe, expect, it } from "vitest";
import { type PermissionSpec, restartsMore, widerPermission } from "../../src/protocol/narrower.ts";
import type { Permission, PermissionRule } from "../../src/protocol/permission.ts";
import { parseRule, permissionFor } from "../../src/protocol/permission-rules.ts";

/** `deny +Bash(git *) -Bash(rm *) ?Write` */
const permitted = (text: string, approval_default: "deny" | "allow" = "deny"): PermissionSpec => {
  const [permission, ...rules] = text.split(", ");
  const actions: Readonly<Record<string, Permission>> = { "+": "allow", "-": "deny", "?": "ask" };
  const permission_rules = rules.map(
    (rule) => parseRule(rule.slice(1), actions[rule.charAt(0)] as Permission) as PermissionRule,
  );
  return { permission: permission as Permission, permission_rules, approval_default };
};

describe("a child's permissions are no wider than its parent's", () => {
  it.each([
    ["deny", "deny"],
    ["deny", "ask"],
    ["ask", "allow"],
    ["deny, +Bash(git status*)", "deny, +Bash(git *)"],
    ["deny, +Read", "deny, +*"],
    ["deny, +bash(git status)", "deny, +Bash"],
    ["deny, +Read", "allow"],
    ["allow, -Bash(rm *)", "allow, -Bash(rm *)"],
    ["allow, -Bash", "allow, -Bash(rm *)"],
    ["deny", "allow, -Bash(rm *)"],
    ["ask", "allow, ?Bash"],
    ["ask, +Read", "ask, +Read, +Write"],
    ["deny, +Bash(git log*), -Bash(git log --exec*)", "deny, +Bash(git *), -Bash(git log --exec*)"],
  ])("%s of %s", (child, parent) => {
    expect(widerPermission(permitted(child), permitted(parent))).toBeUndefined();
  });

  it.each([
    ["allow", "deny", "--permission allow", "--permission deny"],
    ["ask", "deny", "--permission ask", "--permission deny"],
    ["allow", "ask", "--permission allow", "--permission ask"],
    ["deny, +Bash", "deny", "--allow-tool Bash", "--permission deny"],
    ["deny, +Bash", "deny, +Bash(git *)", "--allow-tool Bash", "--permission deny"],
    ["deny, +Bash(*)", "deny, +Bash(git *)", "--allow-tool Bash(*)", "--permission deny"],
    ["deny, +Bash(gi*)", "deny, +Bash(git *)", "--allow-tool Bash(gi*)", "--permission deny"],
    ["deny, ?Bash", "deny", "--ask-tool Bash", "--permission deny"],
    ["allow", "allow, -Bash(rm *)", "--permission allow", "--deny-tool Bash(rm *)"],
    ["allow, -Bash(rm -rf *)", "allow, -Bash(rm *)", "--permission allow", "--deny-tool Bash(rm *)"],
    [
      "deny, +Bash(git *)",
      "deny, +Bash(git *), -Bash(git push*)",
      "--permission deny",
      "--deny-tool Bash(git push*)",
    ],
    ["allow", "allow, ?Bash", "--permission allow", "--ask-tool Bash"],
  ])("not %s of %s", (child, parent, told, bound) => {
    expect(widerPermission(permitted(child), permitted(parent))).toEqual({ child: told, parent: bound });
  });

  it("a request that is allowed when nobody answers it is wider than one that is denied then", () => {
    expect(widerPermission(permitted("ask", "allow"), permitted("ask"))).toEqual({
      child: "--permission ask --approval-default allow",
      parent: "--permission ask",
    });
    expect(widerPermission(permitted("ask"), permitted("ask", "allow"))).toBeUndefined();
    expect(widerPermission(permitted("ask", "allow"), permitted("allow"))).toBeUndefined();
  });

  it("a child that is let pass is answered no more than its parent, whatever it calls", () => {
    const RANK: Readonly<Record<Permission, number>> = { deny: 0, ask: 1, allow: 2 };
    const rules = ["+Bash", "+Bash(git *)", "-Bash(git push*)", "?Bash(git *)", "?*"];
    const specs = (["deny", "ask", "allow"] as const).flatMap((mode) => [
      mode,
      ...rules.map((rule) => `${mode}, ${rule}`),
      ...rules.flatMap((one) => rules.map((other) => `${mode}, ${one}, ${other}`)),
    ]);
    const calls = ["git log", "git push", "git log; rm x", "rm x", undefined].flatMap((command) =>
      ["Bash", "Read", null].map((tool) => ({ tool, input: command === undefined ? null : { command } })),
    );
    let passed = 0;
    for (const child of specs)
      for (const parent of specs) {
        const [own, bound] = [permitted(child), permitted(parent)];
        if (widerPermission(own, bound) !== undefined) continue;
        passed += 1;
        for (const call of calls) {
          const may = permissionFor(call, own.permission_rules, own.permission);
          const parentMay = permissionFor(call, bound.permission_rules, bound.permission);
          if (RANK[may] > RANK[parentMay]) expect({ child, parent, call, may, parentMay }).toBe("no wider");
        }
      }
    expect(passed).toBeGreaterThan(specs.length);
  });
});

it("of restart policies temporary is the narrowest, permanent the widest", () => {
  expect(restartsMore("permanent", "transient")).toBe(true);
  expect(restartsMore("transient", "temporary")).toBe(true);
  expect(restartsMore("temporary", "temporary")).toBe(false);
  expect(restartsMore("temporary", "permanent")).toBe(false);
});
