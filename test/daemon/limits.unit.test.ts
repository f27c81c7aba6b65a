import { expect, test } from "vitest";
import { connectionsOf, descriptorsOf } from "../../src/daemon/limits.ts";
import { CONNECTIONS_DEFAULT, DESCRIPTORS_KEPT } from "../../src/protocol/limits.ts";

test("connections are as many as asked for, and leave descriptors for the rest", () => {
  expect(connectionsOf({}, Number.POSITIVE_INFINITY)).toBe(CONNECTIONS_DEFAULT);
  expect(connectionsOf({ HOLDFAST_MAX_CONNECTIONS: "50" }, 20_000)).toBe(50);
  expect(connectionsOf({ HOLDFAST_MAX_CONNECTIONS: "50000" }, 20_000)).toBe(20_000 - DESCRIPTORS_KEPT);
  expect(connectionsOf({}, 100)).toBe(1);
  expect(() => connectionsOf({ HOLDFAST_MAX_CONNECTIONS: "many" }, 100)).toThrow("whole number");
});

test("the kernel's word for how many files may be open is read", () => {
  expect(
    descriptorsOf(
      "Max processes 1 2 processes\nMax open files            20000                20000                files\n",
    ),
  ).toBe(20_000);
  expect(descriptorsOf("Max open files            unlimited            unlimited            files\n")).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(descriptorsOf("")).toBe(Number.POSITIVE_INFINITY);
});
