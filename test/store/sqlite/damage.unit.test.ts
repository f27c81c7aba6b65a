/** SQLite's own word on a file: damage, or a disk that does not answer. */
import { expect, it } from "vitest";
import { verdictOf } from "../../../src/store/sqlite/damage.ts";

it.each([
  [["ok"], "whole"],
  [["Tree 5 page 6: unable to get the page. error code=8458"], "unreadable"],
  [
    ["Tree 5 page 6: unable to get the page. error code=266", "row 3 missing from index records_id"],
    "unreadable",
  ],
  [["Tree 5 page 6: btreeInitPage() returns error code 11"], "damaged"],
  [["row 3 missing from index records_id"], "damaged"],
] as const)("%j is %s", (findings, verdict) => {
  expect(verdictOf(findings)).toBe(verdict);
});
