import { expect, test } from "vitest";
import type { ProcessOrigin } from "../../../src/adapters/posix.ts";
import { KnownOrigins } from "../../../src/adapters/process/known-origins.ts";
import { ORIGIN_KEPT_MS, ORIGINS_KEPT_MAX } from "../../../src/base/limits.ts";

const OUTSIDE: ProcessOrigin = { type: "outside" };

const looking = (found: ProcessOrigin = OUTSIDE) => {
  let now = 0;
  let looks = 0;
  const origins = new KnownOrigins(() => now);
  return {
    of: (pid: number, start_time = "1") =>
      origins.of(pid, start_time, () => {
        looks += 1;
        return found;
      }),
    looks: () => looks,
    pass: (ms: number) => {
      now += ms;
    },
  };
};

test("a process that asks again is not looked up again, until some time has passed", () => {
  const { of, looks, pass } = looking();
  expect([of(7), of(7)]).toEqual([OUTSIDE, OUTSIDE]);
  expect(looks()).toBe(1);
  pass(ORIGIN_KEPT_MS - 1);
  of(7);
  expect(looks()).toBe(1);
  pass(1);
  of(7);
  expect(looks()).toBe(2);
});

test("another process with the same pid is looked up", () => {
  const { of, looks } = looking();
  of(7, "1");
  of(7, "2");
  of(7, "1");
  expect(looks()).toBe(3);
});

test.each(["gone", "daemon"] as const)("an origin that may change (%s) is looked up each time", (type) => {
  const { of, looks } = looking({ type });
  of(7);
  of(7);
  expect(looks()).toBe(2);
});

test("the oldest of too many is forgotten", () => {
  const { of, looks } = looking();
  for (let pid = 1; pid <= ORIGINS_KEPT_MAX + 1; pid += 1) of(pid);
  of(2);
  expect(looks()).toBe(ORIGINS_KEPT_MAX + 1);
  of(1);
  expect(looks()).toBe(ORIGINS_KEPT_MAX + 2);
});
