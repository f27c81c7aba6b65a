import { describe, expect, it } from "vitest";
import { breachOf, timeLeft } from "../../src/supervisor/budgets.ts";

const usage = (tokens: number, cost_usd: number | null = null) => ({
  input_tokens: tokens,
  output_tokens: 0,
  cached_tokens: 9_999,
  reasoning_tokens: 0,
  cost_usd,
});

describe("a budget", () => {
  it("is passed by what is over it, not by what reaches it", () => {
    expect(breachOf({ turns: 2 }, { turns: 2, usage: usage(0) })).toBeUndefined();
    expect(breachOf({ turns: 2 }, { turns: 3, usage: usage(0) })).toEqual({
      limit: "turns",
      value: 3,
      bound: 2,
    });
    expect(breachOf({ tokens: 10 }, { turns: 0, usage: usage(11) })).toEqual({
      limit: "tokens",
      value: 11,
      bound: 10,
    });
    expect(breachOf({ usd: 1 }, { turns: 0, usage: usage(0, 1.5) })).toEqual({
      limit: "usd",
      value: 1.5,
      bound: 1,
    });
  });

  it("in dollars holds nothing against an agent that reports none", () => {
    expect(breachOf({ usd: 1 }, { turns: 9, usage: usage(1_000_000) })).toBeUndefined();
  });
});

describe("the time that is left", () => {
  it("without a limit is unbounded", () => {
    expect(timeLeft({ timeout_ms: 0, budget: {} }, 1_000, 1_000)).toBeUndefined();
  });

  it("of a timeout is this incarnation's, of a budget the whole worker's; the nearer one counts", () => {
    const spec = { timeout_ms: 100, budget: { wall_ms: 150 } };
    expect(timeLeft(spec, 10, 0)).toEqual({ limit: "timeout", bound: 100, left_ms: 90 });
    expect(timeLeft(spec, 10, 80)).toEqual({ limit: "wall", bound: 150, left_ms: 60 });
  });

  it("is negative where it was passed while nobody watched", () => {
    expect(timeLeft({ timeout_ms: 100, budget: {} }, 130, 0)).toMatchObject({ left_ms: -30 });
  });
});
