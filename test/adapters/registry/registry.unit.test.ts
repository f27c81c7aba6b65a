/** Kinds by their names. */
import { expect, test } from "vitest";
import { adapterFor, adapters, suggestKind } from "../../../src/adapters/registry.ts";

test("every kind is found by its name and its short names, and no name is taken twice", () => {
  const names = adapters.flatMap(({ kind, aliases }) => [kind, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
  for (const adapter of adapters)
    for (const name of [adapter.kind, ...adapter.aliases]) expect(adapterFor(name)).toBe(adapter);
  expect(adapterFor("claude")?.kind).toBe("claude_code");
  expect(adapterFor("toString")).toBeUndefined();
});

test.each([
  ["cluade", "claude"],
  ["claude-code", "claude_code"],
  ["Codex", "codex"],
  ["gemni", "gemini"],
  ["open-code", "opencode"],
  ["copliot", "copilot"],
  ["gemini-cli", "gemini_cli"],
  ["qwen-code", "qwen_code"],
  ["codx", "codex"],
  ["comand", "command"],
  ["zzz", undefined],
  ["", undefined],
])("a mistyped kind %s was probably %s", (typo, meant) => {
  expect(suggestKind(typo)).toBe(meant);
});
