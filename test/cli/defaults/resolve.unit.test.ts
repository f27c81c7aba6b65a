import { expect, it } from "vitest";
import {
  environmentDefaults,
  meaningless,
  resolveDefaults,
  type WrittenDefault,
} from "../../../src/cli/defaults/resolve.ts";
import type { DefaultName, DefaultValue } from "../../../src/protocol/defaults.ts";

const entry =
  (source: WrittenDefault["source"]) =>
  (name: DefaultName, value: DefaultValue, kind?: string): WrittenDefault => ({
    name,
    value,
    kind,
    source,
    from: source,
  });
const env = entry("environment");
const repository = entry("repository");
const user = entry("user");

const resolved = (name: DefaultName, kind: string | undefined, ...written: WrittenDefault[]) => {
  const { value, source, refused } = resolveDefaults(written, { kind, isInteractive: false }).find(
    (one) => one.name === name,
  )!;
  return [value, source, ...(refused === undefined ? [] : [refused])];
};

it.each<[string, DefaultName, string | undefined, WrittenDefault[], unknown[]]>([
  ["nothing is written", "permission", "claude", [], ["deny", "built_in"]],
  ["a program has no time limit", "timeout", "command", [], [0, "built_in"]],
  [
    "the environment is strongest",
    "model",
    "claude",
    [user("model", "u"), repository("model", "r"), env("model", "e")],
    ["e", "environment"],
  ],
  [
    "the repository is stronger than the user",
    "model",
    "claude",
    [user("model", "u"), repository("model", "r")],
    ["r", "repository"],
  ],
  [
    "a kind is stronger than every kind",
    "model",
    "claude",
    [user("model", "u"), user("model", "k", "claude_code")],
    ["k", "user"],
  ],
  ["another kind's is not used", "model", "codex", [user("model", "k", "claude")], [null, "built_in"]],
  [
    "a source is stronger than a kind",
    "model",
    "claude",
    [user("model", "k", "claude"), repository("model", "r")],
    ["r", "repository"],
  ],
  [
    "a repository may give less",
    "permission",
    "claude",
    [user("permission", "allow"), repository("permission", "ask")],
    ["ask", "repository"],
  ],
  [
    "a repository may not give more",
    "permission",
    "claude",
    [user("permission", "ask"), repository("permission", "allow")],
    ["ask", "user", "allow"],
  ],
  [
    "not more than the built-in one either",
    "permission",
    "claude",
    [repository("permission", "ask")],
    ["deny", "built_in", "ask"],
  ],
  [
    "it may add a sandbox",
    "sandbox",
    "claude",
    [repository("sandbox", "workspace")],
    ["workspace", "repository"],
  ],
  [
    "it may not remove one",
    "sandbox",
    "claude",
    [user("sandbox", "workspace"), repository("sandbox", "off")],
    ["workspace", "user", "off"],
  ],
  ["it may not lengthen a time", "timeout", "claude", [repository("timeout", 0)], [1_800_000, "built_in", 0]],
  [
    "it may limit a program by name",
    "timeout",
    "command",
    [repository("timeout", 5, "command")],
    [5, "repository"],
  ],
  ["a program gets no time limit of every kind", "timeout", "command", [user("timeout", 5)], [0, "built_in"]],
  ["a kind without models gets none", "model", "command", [user("model", "m")], [null, "built_in"]],
  [
    "a kind that cannot ask is not told to",
    "permission",
    "command",
    [user("permission", "ask")],
    ["deny", "built_in"],
  ],
  ["a kind of the user's own", "permission", "mine", [user("permission", "ask", "mine")], ["ask", "user"]],
  [
    "for every kind, a kind's own is not shown",
    "model",
    undefined,
    [user("model", "k", "claude")],
    [null, "built_in"],
  ],
])("%s", (_title, name, kind, written, expected) => {
  expect(resolved(name, kind, ...written)).toEqual(expected);
});

it("a dialogue gets no time limit of every kind", () => {
  const [timeout] = resolveDefaults([user("timeout", 5)], { kind: "claude", isInteractive: true }).filter(
    ({ name }) => name === "timeout",
  );
  expect(timeout).toMatchObject({ value: 0, source: "built_in" });
});

it("the environment has one variable a default, and a mistake names it", () => {
  expect(environmentDefaults({ HOLDFAST_MODEL: "m", HOLDFAST_TIMEOUT: "", HOLDFAST_SANDBOX: "on" })).toEqual({
    written: [{ name: "model", kind: undefined, value: "m", source: "environment", from: "HOLDFAST_MODEL" }],
    problems: ['HOLDFAST_SANDBOX is one of workspace, off, not "on"'],
  });
});

it("a default that a kind cannot use is a mistake where it is written for the kind", () => {
  const written = [user("model", "m", "command"), user("model", "m")];
  expect(meaningless(written, { kind: "command", isInteractive: false })).toEqual([
    "kinds.command.model of user means nothing to kind command",
  ]);
  expect(meaningless(written, { kind: "claude", isInteractive: false })).toEqual([]);
});
