/** Docs have one sentence a line, so that they can be skimmed, and compared line by line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withSentencesOnLines } from "../../scripts/sentences.ts";
import { prose, root } from "./pages.ts";

it.each(prose)("%s has one sentence a line (npm run docs)", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const wanted = new Set(withSentencesOnLines(text).split("\n"));
  expect(text.split("\n").filter((line) => !wanted.has(line))).toEqual([]);
});

describe("a page", () => {
  it.each([
    ["is split where a sentence ends", "It ends. It begins! Does it?", "It ends.\nIt begins!\nDoes it?"],
    ["is joined where a line ends within one", "It goes\non here.\nNext.", "It goes on here.\nNext."],
    ["keeps items apart", "- One. Two\n  more.\n- Three.", "- One.\n  Two more.\n- Three."],
    [
      "begins a sentence with code, a link or a number",
      "A. `b` is. [C](d.md) is. 12 are.",
      "A.\n`b` is.\n[C](d.md) is.\n12 are.",
    ],
    ["keeps words in bold with their sentence", "**Files.** They are. More.", "**Files.** They are.\nMore."],
    [
      "closes brackets and quotes first",
      '(It is so.) He says "no." They go.',
      '(It is so.)\nHe says "no."\nThey go.',
    ],
  ])("%s", (_what, page, wanted) => {
    expect(withSentencesOnLines(page)).toBe(wanted);
  });

  it.each([
    ["a row", "| A. B. | C. D. |"],
    ["a heading", "# One. Two"],
    ["code", "```console\n$ a. B\n```"],
    ["an indented block", "Text:\n\n    a. B"],
    ["code within a sentence", "Say `a. B` or [a. B](c.md) now."],
    ["an abbreviation, a number, a path", "A sum, e.g. One of 1.5 in ./a.ts, is etc. One."],
  ])("keeps %s as it is", (_what, page) => {
    expect(withSentencesOnLines(page)).toBe(page);
  });
});
