/** docs/conformance.md says only what is there: each link's text stands in the file to which it points. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const docs = resolve(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "conformance.md"), "utf8");
/** Cells of the table rows, without the header and the rule. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| the document says"))
  .map((line) => line.split(" | "));
const links = [...page.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+)\)/g)].map(([, text, path]) => ({
  text: text as string,
  path: path as string,
}));

describe("docs/conformance.md", () => {
  test.each(links)("$path has: $text", ({ text, path }) => {
    const file = join(docs, path);
    expect(existsSync(file), path).toBe(true);
    const content = readFileSync(file, "utf8");
    // A test's title, or a name that the source declares.
    if (path.startsWith("../test/")) expect(content).toContain(`${text}"`);
    else expect(content).toMatch(new RegExp(`\\b(const|class|interface|type|function) ${text}\\b`));
  });

  test("names a place and a test in every row", () => {
    expect(rows.length).toBeGreaterThan(30);
    const incomplete = rows.filter(
      ([, done = "", held = ""]) => !done.includes("](../src/") || !held.includes("](../test/"),
    );
    expect(incomplete).toEqual([]);
  });

  test("has its deviations for each contract", () => {
    expect(page.match(/^Deviations and open points:$/gm)).toHaveLength(page.match(/^## /gm)?.length ?? 0);
  });
});
