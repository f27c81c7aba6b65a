/** Each public failure that docs/compared.md claims to be avoided here has a test whose title begins with the number of its report, and back. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./pages.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const [, section = ""] = read("docs/compared.md").split("\n## Failures that were reported in public\n");
const claimed = [...section.matchAll(/^\| \[([a-z-]+#\d+)\]\(([^)]+)\) \|/gm)];
const titles = [
  ...read("test/chaos/public-failures.chaos.test.ts").matchAll(/^test\("([a-z-]+#\d+): /gm),
].map(([, report]) => report!);

it("names each report once, with a test of that title for each", () => {
  const reports = claimed.map(([, report]) => report!);
  expect(reports.length).toBeGreaterThan(0);
  expect(reports.toSorted()).toEqual(titles.toSorted());
  expect(new Set(reports).size).toBe(reports.length);
});

it.each(claimed.map(([, report, address]) => ({ report: report!, address: address! })))(
  "$report links to its own thread",
  ({ report, address }) => {
    const [name, number] = report.split("#");
    expect(address).toMatch(new RegExp(`^https://github\\.com/[^/]+/${name}/issues/${number}$`));
  },
);
