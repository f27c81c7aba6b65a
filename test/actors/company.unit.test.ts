import { expect, test } from "vitest";
import { Company } from "../../src/actors/company.ts";
import {
  BATCH_BESIDE_OTHERS_MAX_LINES,
  BATCH_MAX_LINES,
  FLOOD_REST_MAX_MS,
  FLOOD_REST_TIMES,
  OTHERS_WRITE_MS,
} from "../../src/base/limits.ts";

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

test("beside others a flood rests for some times what its batch took, within a bound; alone it does not", () => {
  const company = new Company();
  expect(company.rest("a", 2, 100)).toBe(0);
  company.heard("a", 100);
  expect(company.rest("a", 2, 100)).toBe(0);
  company.heard("b", 100);
  expect(company.rest("a", 2, 100)).toBe(2 * FLOOD_REST_TIMES);
  expect(company.rest("a", 10_000, 100)).toBe(FLOOD_REST_MAX_MS);
  expect(company.rest("a", 2, 100 + OTHERS_WRITE_MS)).toBe(0);
});
