import { expect, test } from "vitest";
import {
  BATCH_BESIDE_OTHERS_MAX_LINES,
  BATCH_MAX_LINES,
  OTHERS_WRITE_MS,
} from "../../src/protocol/limits.ts";
import { Company } from "../../src/supervisor/company.ts";

const LARGE = BATCH_MAX_LINES;
const SMALL = BATCH_BESIDE_OTHERS_MAX_LINES;

test("alone, a worker is read in large batches, however much it wrote just now", () => {
  const company = new Company();
  expect(company.portion("a", 0).lines).toBe(LARGE);
  company.heard("a", 0);
  company.heard("a", 1);
  expect(company.portion("a", 1).lines).toBe(LARGE);
});

test("beside another that writes, in small ones, until that one has been silent for a while", () => {
  const company = new Company();
  company.heard("b", 100);
  expect(company.portion("a", 100).lines).toBe(SMALL);
  expect(company.portion("a", 99 + OTHERS_WRITE_MS).lines).toBe(SMALL);
  expect(company.portion("a", 100 + OTHERS_WRITE_MS).lines).toBe(LARGE);
});

test("what a worker wrote last itself hides nobody else", () => {
  const company = new Company();
  company.heard("b", 0);
  company.heard("a", 1);
  company.heard("a", 2);
  expect(company.portion("a", 3).lines).toBe(SMALL);
  expect(company.portion("b", 3).lines).toBe(SMALL);
  expect(company.portion("a", OTHERS_WRITE_MS).lines).toBe(LARGE);
});
