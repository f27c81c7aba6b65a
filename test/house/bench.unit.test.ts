/** The bench runs in a clone with nothing beside it. */
import { expect, test } from "vitest";
import { transcript } from "../../bench/support.ts";

test("it reads a transcript of the project's own where no other is given", () => {
  const lines = transcript("/nothing/is/here").trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty("type");
});
