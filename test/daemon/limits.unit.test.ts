import { expect, test } from "vitest";
import { CONNECTIONS_DEFAULT, DESCRIPTORS_KEPT } from "../../src/base/limits.ts";
import { connectionsOf, limitsOf, retentionSizeOf } from "../../src/daemon/limits.ts";
import { softLimitOf } from "../../src/daemon/machine-files.ts";

test("connections are as many as asked for, and leave descriptors for the rest", () => {
  expect(connectionsOf({}, Number.POSITIVE_INFINITY)).toBe(CONNECTIONS_DEFAULT);
  expect(connectionsOf({ HOLDFAST_MAX_CONNECTIONS: "50" }, 20_000)).toBe(50);
  expect(connectionsOf({ HOLDFAST_MAX_CONNECTIONS: "50000" }, 20_000)).toBe(20_000 - DESCRIPTORS_KEPT);
  expect(connectionsOf({}, 100)).toBe(1);
  expect(() => connectionsOf({ HOLDFAST_MAX_CONNECTIONS: "many" }, 100)).toThrow("whole number");
});

test("the kernel's word for how many files may be open is read", () => {
  const openFiles = (limits: string) => softLimitOf(limits, "Max open files");
  expect(
    openFiles(
      "Max processes 1 2 processes\nMax open files            20000                20000                files\n",
    ),
  ).toBe(20_000);
  expect(openFiles("Max open files            unlimited            unlimited            files\n")).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(openFiles("")).toBe(Number.POSITIVE_INFINITY);
});

test("the size of the log has no bound unless it is said, and none that a log without output is over", () => {
  expect(retentionSizeOf({})).toBeUndefined();
  expect(retentionSizeOf({ HOLDFAST_RETENTION_SIZE: "10G" })).toBe(10 * 1024 ** 3);
  expect(() => retentionSizeOf({ HOLDFAST_RETENTION_SIZE: "1MB" })).toThrow(
    'HOLDFAST_RETENTION_SIZE is a size of at least 16MB, such as 10G, not "1MB".',
  );
});

test("sizes are written as everywhere else", () => {
  const floor = (text: string) => limitsOf({ HOLDFAST_DISK_MIN: text }).disk_min_bytes;
  expect([floor("256M"), floor("256MB"), floor("1.5g"), floor("0")]).toEqual([
    256 * 1024 ** 2,
    256 * 1024 ** 2,
    1.5 * 1024 ** 3,
    0,
  ]);
  expect(() => floor("900TB")).toThrow('HOLDFAST_DISK_MIN is a size such as 256MB or 2G, not "900TB".');
});
