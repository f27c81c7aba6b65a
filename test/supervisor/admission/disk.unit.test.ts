import { expect, test } from "vitest";
import {
  type DiskView,
  diskSentence,
  isBelowFloor,
  makeDisk,
} from "../../../src/supervisor/admission/disk.ts";

test.each([
  ["below the floor", 99, false, true],
  ["at the floor", 100, false, false],
  ["a little over it, after it was below", 124, true, true],
  ["a quarter over it, after it was below", 125, true, false],
  ["where nobody can say", undefined, true, false],
])("%s", (_where, free, wasBelow, is) => {
  expect(isBelowFloor(free, 100, wasBelow)).toBe(is);
});

test("a floor of 0 is none", () => {
  expect(isBelowFloor(0, 0, false)).toBe(false);
});

test("a change is told once", () => {
  const told: DiskView[] = [];
  const free = { bytes: 1024 ** 3 };
  const disk = makeDisk(
    () => free.bytes,
    512 * 1024 ** 2,
    (view) => told.push(view),
  );
  for (const bytes of [1024 ** 3, 1024 ** 2, 0, 600 * 1024 ** 2, 1024 ** 3, 1024 ** 3]) {
    free.bytes = bytes;
    disk.look();
  }
  expect(told.map(diskSentence)).toEqual([
    "Only 1 MB are free on the disk of the state directory: nothing is started below 512 MB.",
    "There is room on the disk of the state directory again: 1024 MB are free.",
  ]);
  expect([disk.isLow(), disk.view()]).toEqual([
    false,
    { free_bytes: 1024 ** 3, floor_bytes: 512 * 1024 ** 2, low: false },
  ]);
});
