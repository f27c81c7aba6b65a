import { describe, expect, it } from "vitest";
import { RETRY_CLASSES, retryAfter, retryClassOf } from "../../../src/control/board/retry.ts";
import { ERROR_CATALOGUE, type ErrorCode } from "../../../src/protocol/errors.ts";

describe("the class of a failure", () => {
  it.each([
    ["TIMEOUT", "timeout"],
    ["IDLE_TIMEOUT", "timeout"],
    ["PROVIDER_ERROR", "transport"],
    ["RESOURCE_EXHAUSTED", "transport"],
    ["DISK_FULL", "storage"],
    ["WORKER_LOST", "transient"],
    ["SUPERVISOR_DIED", "transient"],
    ["RATE_LIMITED", "rate_limit"],
    ["AGENT_FAILED", "execution"],
    ["SUPERVISOR_GAVE_UP", "execution"],
    ["BINARY_NOT_FOUND", null],
    ["WORKTREE_UNAVAILABLE", null],
    ["TOKEN_INVALID", null],
    ["BUDGET_EXCEEDED", null],
    ["POLICY_VIOLATION", null],
    ["WORKER_CANCELLED", null],
  ] as const)("%s is %s", (code, expected) => {
    expect(retryClassOf(code)).toBe(expected);
  });

  it("is never one where a restart is known to help nothing", () => {
    const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
    const hopeless = codes.filter((code) => ERROR_CATALOGUE[code].restart === "never");
    expect(hopeless.map(retryClassOf).filter((one) => one !== null)).toEqual([]);
  });
});

describe("a retry", () => {
  it("waits longer each time, within the bounds of its class, until there are no more", () => {
    const { min_ms, max_ms, tries_max } = RETRY_CLASSES.transport;
    const waits = Array.from({ length: tries_max }, (_, failures) =>
      retryAfter({ code: "UNAVAILABLE" }, failures, 0),
    );
    expect(waits.map((wait) => wait?.delay_ms)).toEqual([
      10_000,
      20_000,
      40_000,
      80_000,
      160_000,
      300_000,
      300_000,
      undefined,
    ]);
    for (const wait of waits.slice(0, -1)) {
      expect(wait!.delay_ms).toBeGreaterThanOrEqual(min_ms);
      expect(wait!.delay_ms).toBeLessThanOrEqual(max_ms);
    }
  });

  it("waits as long as the provider says, as far as its class goes", () => {
    const waits = (retry_after_s: number) =>
      retryAfter({ code: "RATE_LIMITED", retry_after_s }, 0, 0)?.delay_ms;
    expect([waits(1), waits(600), waits(1e6)]).toEqual([60_000, 600_000, RETRY_CLASSES.rate_limit.max_ms]);
  });
});
