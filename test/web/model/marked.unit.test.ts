import { expect, test } from "vitest";
import { markedParts } from "../../../src/web/model/marked.ts";

const shown = (text: string, marks: readonly (readonly [number, number])[]): string =>
  markedParts(text, marks)
    .map(({ text: part, isMatch }) => (isMatch ? `[${part}]` : part))
    .join("|");

test.each([
  ["no match", "one two", [], "one two"],
  ["in the middle", "one two three", [[4, 7]], "one |[two]| three"],
  [
    "at both ends",
    "one two",
    [
      [0, 3],
      [4, 7],
    ],
    "[one]| |[two]",
  ],
  [
    "one that overlaps the one before it",
    "one two",
    [
      [0, 5],
      [4, 7],
    ],
    "[one t]|wo",
  ],
  ["one behind the end", "one", [[1, 9]], "o|[ne]"],
  ["no text", "", [[0, 1]], ""],
] as const)("%s", (_, text, marks, parts) => {
  expect(shown(text, marks)).toBe(parts);
});
