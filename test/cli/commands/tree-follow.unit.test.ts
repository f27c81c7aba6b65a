import { expect, it } from "vitest";
import { clipped } from "../../../src/cli/commands/tree-follow.ts";
import { plainPaint } from "../../../src/cli/render/terminal.ts";

const tree = (lines: number): string => Array.from({ length: lines }, (_, n) => `line ${n + 1}`).join("\n");

it("a tree that fits is drawn whole, with a line left for the cursor", () => {
  expect(clipped(tree(5), 6, plainPaint)).toBe(tree(5));
});

it("a tree that does not fit ends with how much is left out", () => {
  const shown = clipped(tree(12), 6, plainPaint).split("\n");
  expect(shown).toEqual(["line 1", "line 2", "line 3", "line 4", "… and 8 lines more: agent tree"]);
});
