import { expect, test } from "vitest";
import { OutputActivity } from "../../src/actors/output-activity.ts";
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
  const outputActivity = new OutputActivity();
  expect(outputActivity.portion("a", 0).lines).toBe(LARGE);
  outputActivity.heard("a", 0);
  outputActivity.heard("a", 1);
  expect(outputActivity.portion("a", 1).lines).toBe(LARGE);
});

test("beside another that writes, in small ones, until that one has been silent for a while", () => {
  const outputActivity = new OutputActivity();
  outputActivity.heard("b", 100);
  expect(outputActivity.portion("a", 100).lines).toBe(SMALL);
  expect(outputActivity.portion("a", 99 + OTHERS_WRITE_MS).lines).toBe(SMALL);
  expect(outputActivity.portion("a", 100 + OTHERS_WRITE_MS).lines).toBe(LARGE);
});

test("a worker's own last output hides no other worker's", () => {
  const outputActivity = new OutputActivity();
  outputActivity.heard("b", 0);
  outputActivity.heard("a", 1);
  outputActivity.heard("a", 2);
  expect(outputActivity.portion("a", 3).lines).toBe(SMALL);
  expect(outputActivity.portion("b", 3).lines).toBe(SMALL);
  expect(outputActivity.portion("a", OTHERS_WRITE_MS).lines).toBe(LARGE);
});

test("beside others a flood rests for some times what its batch took, within a bound; alone it does not", () => {
  const outputActivity = new OutputActivity();
  expect(outputActivity.rest("a", 2, 100)).toBe(0);
  outputActivity.heard("a", 100);
  expect(outputActivity.rest("a", 2, 100)).toBe(0);
  outputActivity.heard("b", 100);
  expect(outputActivity.rest("a", 2, 100)).toBe(2 * FLOOD_REST_TIMES);
  expect(outputActivity.rest("a", 10_000, 100)).toBe(FLOOD_REST_MAX_MS);
  expect(outputActivity.rest("a", 2, 100 + OTHERS_WRITE_MS)).toBe(0);
});
