import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PAGE, page } from "./validation.ts";

it("docs/validation.md is what the tables of rules generate (npm run docs:validation)", () => {
  expect(readFileSync(PAGE, "utf8")).toBe(page());
});
