/** The pages of records and of limits are read from the text of their sources: a meaning is the comment above a declaration. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

export const linesOf = (file: string): readonly string[] =>
  readFileSync(join(root, file), "utf8").split("\n");

/** The words of a comment that begins at this line, and the line after it; undefined where none begins. */
export const commentAt = (
  lines: readonly string[],
  at: number,
): { readonly words: string; readonly next: number } | undefined => {
  if (!lines[at]?.trimStart().startsWith("/**")) return undefined;
  const end = lines.findIndex((line, index) => index >= at && line.includes("*/"));
  const words = lines
    .slice(at, end + 1)
    .map((line) => line.replace(/^\s*(\/\*\*|\*\/|\*)\s?/, "").replace(/\s*\*\/\s*$/, ""))
    .join(" ")
    .trim();
  return { words, next: end + 1 };
};
