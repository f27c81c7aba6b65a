import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatDuration,
  parseCount,
  parseDuration,
  parseSize,
  readBackoff,
  readBudget,
  readDuration,
  readRestarts,
  readSize,
} from "../../src/base/durations.ts";

describe("amounts", () => {
  it.each([
    ["500ms", 500],
    ["10s", 10_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["1.5h", 5_400_000],
    ["0.29s", 290],
    ["0", 0],
    ["10S", 10_000],
  ])("%s is a duration of %i ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each([
    "",
    "10",
    "s",
    "10 s",
    "-1s",
    "1e3s",
    "1.5ms",
    "10sec",
    "١s",
    "5s5",
    "constructor",
    "9999999999999999s",
  ])("%j is no duration", (text) => expect(parseDuration(text)).toBeUndefined());

  it.each([
    ["64KB", 65_536],
    ["1MB", 1_048_576],
    ["1.5kb", 1_536],
    ["512", 512],
    ["512b", 512],
    ["1GiB", 1_073_741_824],
  ])("%s is a size of %i bytes", (text, size) => expect(parseSize(text)).toBe(size));
  it.each([
    ["2M", 2_000_000],
    ["1.5k", 1_500],
    ["40", 40],
    ["0.29M", 290_000],
  ])("%s is a count of %i", (text, count) => expect(parseCount(text)).toBe(count));
  it.each(["1.5", "2T", "", "-1", "9999999g"])("%j is no count", (text) =>
    expect(parseCount(text)).toBeUndefined(),
  );
});

describe("formatDuration", () => {
  it.each([
    [0, "0ms"],
    [999, "999ms"],
    [1_500, "1.5s"],
    [90_000, "1m30s"],
    [60_000, "1m"],
    [3_600_000, "1h"],
    [90_061_001, "1d1h1m1.001s"],
    [-5, "0ms"],
  ])("%i is written %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("is read back as it was, where it is one amount", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 1_000, 60_000, 3_600_000),
        fc.integer({ min: 1, max: 23 }),
        (unit, n) => parseDuration(formatDuration(unit * n)) === unit * n,
      ),
    );
  });
});

const problem = (read: { ok: boolean; problem?: string }): string | undefined => read.problem;

describe("durations of flags", () => {
  it("reads restarts, backoff and budget", () => {
    expect(readRestarts("3/60s")).toEqual({ ok: true, value: { max: 3, period_ms: 60_000 } });
    expect(readRestarts("0/1h")).toEqual({ ok: true, value: { max: 0, period_ms: 3_600_000 } });
    expect(readBackoff("1s..60s")).toEqual({ ok: true, value: { min_ms: 1_000, max_ms: 60_000 } });
    expect(readBackoff("5s")).toEqual({ ok: true, value: { min_ms: 5_000, max_ms: 5_000 } });
    expect(readBudget("usd=5,tokens=2M,turns=40,wall=1h")).toEqual({
      ok: true,
      value: { usd: 5, tokens: 2_000_000, turns: 40, wall_ms: 3_600_000 },
    });
    expect(readBudget("usd=0.25")).toEqual({ ok: true, value: { usd: 0.25 } });
    expect(readSize("64KB")).toEqual({ ok: true, value: 65_536 });
  });

  it.each([
    [readDuration("soon"), 'needs a duration such as 500ms, 10s, 5m, 2h or 1d, not "soon"'],
    [readDuration("400d"), "may be at most 366d, not 400d"],
    [readSize("big"), 'needs a size such as 512, 64KB or 1MB, not "big"'],
    [readRestarts("3"), 'needs a number and a period, as in 3/60s, not "3"'],
    [readRestarts("3/0s"), 'needs a number and a period, as in 3/60s, not "3/0s"'],
    [readRestarts("3/1s/2s"), 'needs a number and a period, as in 3/60s, not "3/1s/2s"'],
    [readRestarts("2M/1s"), "may be at most 1000000 restarts, not 2M"],
    [readBackoff("9s..1s"), "begins above its end: 9s..1s"],
    [readBackoff("1s..2s..3s"), 'needs two durations, as in 1s..60s, not "1s..2s..3s"'],
    [readBudget("eur=5"), 'knows usd, tokens, turns, wall, restarts and output, not "eur"'],
    [readBudget("toString=5"), 'knows usd, tokens, turns, wall, restarts and output, not "toString"'],
    [readBudget(""), 'knows usd, tokens, turns, wall, restarts and output, not ""'],
    [readBudget("usd=1,usd=2"), "has usd twice"],
    [readBudget("turns=0"), 'needs more than 0 for turns, as in usd=5,tokens=2M,turns=40,wall=1h, not "0"'],
    [readBudget("wall=400d"), "may have at most 366d for wall, not 400d"],
    [readBudget("usd"), 'needs more than 0 for usd, as in usd=5,tokens=2M,turns=40,wall=1h, not ""'],
  ])("tells what is wrong in one sentence: %#", (read, text) => expect(problem(read)).toBe(text));
});
