import { describe, expect, it } from "vitest";
import { classifyText } from "../../src/adapters/classify.ts";
import {
  RATE_LIMIT_BACKOFF_MAX_MS,
  RATE_LIMIT_JITTER_MAX_MS,
  RATE_LIMIT_WAIT_MAX_MS,
  RATE_LIMIT_WAITS_MAX,
} from "../../src/protocol/limits.ts";
import { rateLimitDelay } from "../../src/supervisor/rate-limit.ts";

describe("the wait for a rate limit", () => {
  it("is never shorter than the provider says, and at most a minute longer", () => {
    expect(rateLimitDelay({ retry_after_s: 3_600 }, 0, 0)).toBe(3_600_000);
    expect(rateLimitDelay({ retry_after_s: 3_600 }, 5, 0.999_999)).toBe(3_600_000 + RATE_LIMIT_JITTER_MAX_MS);
    expect(rateLimitDelay({ retry_after_s: 2 }, 0, 0.5)).toBe(3_000);
    expect(rateLimitDelay({ retry_after_s: 1e9 }, 0, 0)).toBe(RATE_LIMIT_WAIT_MAX_MS);
  });

  it("doubles up to its bound where the provider does not say, and ends with the last one", () => {
    const waits = Array.from({ length: RATE_LIMIT_WAITS_MAX + 1 }, (_, n) => rateLimitDelay({}, n, 0));
    expect(waits.slice(0, 3)).toEqual([30_000, 60_000, 120_000]);
    expect(waits.at(-2)).toBe(RATE_LIMIT_BACKOFF_MAX_MS);
    expect(waits.at(-1)).toBeUndefined();
  });

  it.each([
    ["exceeded retry limit, last status: 429 Too Many Requests", undefined],
    ["last status: 429. Please try again in 1.2s.", 2],
    ["You've hit your usage limit. Upgrade, or try again in 5 days 3 hours 2 minutes.", 442_920],
    ["usage limit reached, try again in 1m30s", 90],
    ["last status: 500, try again in 5s", undefined],
    ["usage limit: try again in a while", undefined],
  ])("is read from what a CLI says: %s", (text, expected) => {
    expect(classifyText(text)?.retry_after_s).toBe(expected);
  });
});
