import { describe, expect, it, vi } from "vitest";
import { armCrashPoint, crashPoint } from "../../src/base/crash-point.ts";

describe("a crash point", () => {
  it("does nothing as long as none is armed", () => {
    armCrashPoint(undefined, () => expect.unreachable());
    crashPoint("append-before");
  });

  it("is where the daemon dies at the passage asked for, and at no other point", () => {
    const die = vi.fn();
    armCrashPoint("append-after:3", die);
    for (let passage = 1; passage <= 2; passage += 1) {
      crashPoint("append-after");
      crashPoint("append-before");
    }
    expect(die).not.toHaveBeenCalled();
    crashPoint("append-after");
    expect(die).toHaveBeenCalledOnce();
  });

  it.each(["append-after", "append-after:0", "append-after:x", "nowhere:1", ""])(
    "that is told as %j is refused, so that no test waits for nothing",
    (wanted) => {
      expect(() => armCrashPoint(wanted, () => undefined)).toThrow("HOLDFAST_CRASH_AT is POINT:N");
    },
  );
});
