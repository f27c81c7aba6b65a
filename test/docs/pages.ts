/** The pages that a reader is given: those of docs/ and at the root of the repository. */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...(readdirSync(join(root, "docs"), { recursive: true }) as string[])
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file))
    .toSorted(),
];

/** Pages with one sentence a line. The list of changes has one change an item. */
export const prose: readonly string[] = pages.filter((page) => page !== "CHANGELOG.md");
