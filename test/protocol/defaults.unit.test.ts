import { expect, it } from "vitest";
import { isLooser, readDefault, readDefaultKey } from "../../src/protocol/defaults.ts";

it.each([
  ["model", "opus", "opus"],
  ["permission", "ask", "ask"],
  ["sandbox", "off", "off"],
  ["worktree", true, true],
  ["worktree", "off", false],
  ["timeout", "2h", 7_200_000],
  ["timeout", 0, 0],
] as const)("%s %j is %j", (name, given, value) => {
  expect(readDefault(name, given)).toEqual({ ok: true, value });
});

it.each([
  ["model", "--yolo", 'is a text of at most 128 characters that begins with no dash, not "--yolo"'],
  ["model", 7, "is a text of at most 128 characters that begins with no dash, not 7"],
  ["model", "a\nb", 'is a text of at most 128 characters that begins with no dash, not "a\\nb"'],
  ["permission", "alow", 'is one of deny, ask, allow, not "alow"; did you mean allow?'],
  ["sandbox", null, "is one of workspace, off, not null"],
  ["worktree", "main", 'is one of on, off, not "main"'],
  ["timeout", "soon", 'needs a duration such as 500ms, 10s, 5m, 2h or 1d, not "soon"'],
] as const)("%s is not %j", (name, given, problem) => {
  expect(readDefault(name, given)).toEqual({ ok: false, problem });
});

it.each([
  ["permission", "allow", "ask", true],
  ["permission", "ask", "deny", true],
  ["permission", "deny", "allow", false],
  ["permission", "ask", "ask", false],
  ["sandbox", "off", "workspace", true],
  ["sandbox", "workspace", "off", false],
  ["worktree", false, true, true],
  ["timeout", 0, 1, true],
  ["timeout", 2, 1, true],
  ["timeout", 1, 0, false],
  ["model", "large", "small", false],
  ["permission", "allow", undefined, false],
] as const)("%s: %j gives more than %j: %j", (name, value, other, looser) => {
  expect(isLooser(name, value, other)).toBe(looser);
});

it("a key names every kind or one, whose name may have dots", () => {
  expect(readDefaultKey("defaults.model")).toEqual({ ok: true, value: { name: "model", kind: undefined } });
  expect(readDefaultKey("kinds.my.own.model")).toEqual({
    ok: true,
    value: { name: "model", kind: "my.own" },
  });
  for (const key of ["model", "defaults", "kinds.model", "defaults.a.model", "kinds.claude.color"])
    expect(readDefaultKey(key).ok).toBe(false);
});
