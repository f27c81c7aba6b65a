import { describe, expect, it } from "vitest";
import {
  RATE_LIMIT_BACKOFF_MAX_MS,
  RATE_LIMIT_JITTER_MAX_MS,
  RATE_LIMIT_WAIT_MAX_MS,
  RATE_LIMIT_WAITS_MAX,
} from "../../../src/base/limits.ts";
import { rateLimitWait } from "../../../src/supervisor/restart/rate-limit.ts";

const NOON = Date.parse("2026-11-22T12:00Z");
type Said = Parameters<typeof rateLimitWait>[0];
const wait = (said: Said, waitsBefore = 0, random = 0) =>
  rateLimitWait(said, waitsBefore, { random, wall: { ms: NOON, zone: "Europe/Berlin" } });
const delay = (...given: Parameters<typeof wait>) => wait(...given)?.delay_ms;

const HOUR_MS = 3_600_000;
const passed = { delay_ms: 30_000, note: "the reset that was told has passed" };

describe("the wait for a rate limit", () => {
  it("is never shorter than the provider says, and at most a minute longer", () => {
    expect(delay({ retry_after_s: 3_600 })).toBe(HOUR_MS);
    expect(delay({ retry_after_s: 3_600 }, 5, 0.999_999)).toBe(HOUR_MS + RATE_LIMIT_JITTER_MAX_MS);
    expect(delay({ retry_after_s: 2 }, 0, 0.5)).toBe(3_000);
  });

  it("doubles up to its bound where the provider does not say, and ends with the last one", () => {
    const waits = Array.from({ length: RATE_LIMIT_WAITS_MAX + 1 }, (_, n) => delay({}, n));
    expect(waits.slice(0, 3)).toEqual([30_000, 60_000, 120_000]);
    expect(waits.at(-2)).toBe(RATE_LIMIT_BACKOFF_MAX_MS);
    expect(waits.at(-1)).toBeUndefined();
  });

  it.each<[string, Said, object]>([
    ["until an instant", { reset_at: "2026-11-22T15:30:00.000Z" }, { delay_ms: 3.5 * HOUR_MS }],
    [
      "until a time in a zone",
      { resets: { hour: 15, minute: 0, zone: "America/New_York" } },
      { delay_ms: 8 * HOUR_MS },
    ],
    ["until a time on the machine's wall", { resets: { hour: 15, minute: 0 } }, { delay_ms: 2 * HOUR_MS }],
    [
      "as if nobody had said when, for a zone that is none",
      { resets: { hour: 1, minute: 0, zone: "x" } },
      { delay_ms: 30_000 },
    ],
    ["as if nobody had said when, for what is no instant", { reset_at: "soon" }, { delay_ms: 30_000 }],
    ["ever longer where the reset has passed", { reset_at: "2026-11-22T11:59:59.000Z" }, passed],
    ["the same at that very instant", { reset_at: "2026-11-22T12:00:00.000Z" }, passed],
    ["the same for a time of day a few minutes ago", { resets: { hour: 12, minute: 55 } }, passed],
    ["the same for a date that has passed", { resets: { month: 11, day: 1, hour: 3, minute: 0 } }, passed],
    [
      "at most so long, and says so",
      { reset_at: "2026-12-24T12:00:00.000Z" },
      {
        delay_ms: RATE_LIMIT_WAIT_MAX_MS,
        note: "the reset that was told is 32d away; it is tried again before",
      },
    ],
    [
      "at most so long, whoever says it",
      { retry_after_s: 1e9 },
      { delay_ms: RATE_LIMIT_WAIT_MAX_MS, note: expect.stringContaining("it is tried again before") },
    ],
  ])("is %s", (_, said, expected) => {
    expect(wait(said)).toEqual(expected);
  });
});
