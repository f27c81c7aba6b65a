/** The page of Weblisk's requirements names tests that there are, and every requirement of the lists. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/reference/weblisk.md"), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| "));

it("each test that it names is there", () => {
  const named = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("each numbered requirement has a row, with a test or the word that it is not served", () => {
  const ids = [
    ...Array.from({ length: 15 }, (_, at) => `W${at + 1}`),
    ...Array.from({ length: 10 }, (_, at) => `I${at + 1}`),
    ...Array.from({ length: 10 }, (_, at) => `F${at + 1}`),
    "T",
  ];
  const found = rows.flatMap((row) => /^\| ([WIFT]\d*) \|/.exec(row)?.[1] ?? []);
  expect(found.toSorted()).toEqual(ids.toSorted());
  for (const row of rows.filter((one) => /^\| [WIFT]\d* \|/.test(one)))
    expect(/`test\/|\| not/.test(row), row).toBe(true);
});
