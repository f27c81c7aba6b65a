import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Budget } from "../../../src/protocol/worker.ts";
import {
  added,
  boundsOf,
  breachOf,
  grown,
  hasLimits,
  moved,
  NOTHING_SPENT,
  NOTHING_UNFINISHED,
  ofUnfinished,
  ofUsage,
  raised,
  type SpentAmounts,
  withUnfinished,
} from "../../../src/supervisor/budgets/budgets.ts";
import { figure, full } from "../../support/figures.ts";

const spent = (over: Partial<SpentAmounts>): SpentAmounts => ({ ...NOTHING_SPENT, ...over });

describe("a budget", () => {
  it.each([
    ["turns", "turns", 2, 3],
    ["tokens", "tokens", 10, 11],
    ["usd", "usd", 1, 1.5],
    ["wall_ms", "wall", 1_000, 1_001],
    ["restarts", "restarts", 3, 4],
    ["output_bytes", "output_bytes", 100, 101],
  ] as const)("of %s is passed by what is over it, not by what reaches it", (field, limit, bound, value) => {
    expect(breachOf({ [field]: bound }, spent({ [field]: bound }))).toBeUndefined();
    expect(breachOf({ [field]: bound }, spent({ [field]: value }))).toEqual({ limit, value, bound });
    expect(breachOf({}, spent({ [field]: value }))).toBeUndefined();
  });

  it("in dollars holds nothing against an agent that reports none", () => {
    const usage = {
      input_tokens: 6,
      output_tokens: 4,
      cached_tokens: 99,
      reasoning_tokens: 3,
      cost_usd: null,
    };
    expect(ofUsage(9, usage)).toEqual({ turns: 9, tokens: 10, usd: 0 });
  });

  it("without a limit is none", () => {
    expect([undefined, {}, { usd: 1 }].map(hasLimits)).toEqual([false, false, true]);
  });
});

describe("spending", () => {
  it("is never taken back, whatever is reported later", () => {
    expect(grown(spent({ usd: 3, turns: 2 }), { usd: 2, turns: 3 })).toEqual(spent({ usd: 3, turns: 3 }));
  });

  it("by open turns and by those that ended with their incarnation is added, not compared", () => {
    const usage = { input_tokens: 6, output_tokens: 4, cached_tokens: 9, reasoning_tokens: 3, cost_usd: 0.1 };
    const open = ofUnfinished({ ...usage, estimated_usd: 0.2 });
    expect(open).toEqual({ tokens: 10, usd: 0.3, estimated: true });
    const both = added(open, ofUnfinished(usage));
    expect(both).toEqual({ tokens: 20, usd: 0.4, estimated: true });
    expect(withUnfinished(spent({ turns: 1, tokens: 5, usd: 1 }), both)).toEqual(
      spent({ turns: 1, tokens: 25, usd: 1.4 }),
    );
    expect(ofUnfinished(undefined)).toEqual(NOTHING_UNFINISHED);
  });

  it("in dollars is exact to a billionth, however many cents are added", () => {
    let sum = NOTHING_SPENT;
    for (let n = 0; n < 1_000; n += 1) sum = moved(sum, NOTHING_SPENT, spent({ usd: 0.1 }));
    expect(sum.usd).toBe(100);
  });
});

describe("a budget that somebody raises", () => {
  it.each([
    [{ usd: 5 }, {}, { usd: 5.1 }, { usd: 10 }],
    [{ usd: 5 }, {}, { usd: 10 }, { usd: 15 }],
    [{ usd: 5 }, { usd: 10 }, { usd: 31 }, { usd: 35 }],
    // A budget that is not spent stays as it is.
    [{ usd: 5, turns: 10 }, {}, { usd: 6, turns: 3 }, { usd: 10, turns: 10 }],
    [{ turns: 3 }, { turns: 6 }, { turns: 2 }, { turns: 6 }],
  ] as const)("%j, raised to %j, after %j is %j", (budget, granted, now, expected) => {
    expect(raised(budget, granted, spent(now))).toEqual(expected);
  });

  it("gives a further turn where one is wanted, and has none left for it before", () => {
    expect(breachOf({ turns: 1 }, spent({ turns: 1 }))).toBeUndefined();
    expect(breachOf({ turns: 1 }, spent({ turns: 1 }), 1)).toEqual({ limit: "turns", value: 1, bound: 1 });
    expect(breachOf({ turns: 2 }, spent({ turns: 1 }), 1)).toBeUndefined();
    expect(raised({ turns: 1 }, {}, spent({ turns: 1 }), 1)).toEqual({ turns: 2 });
    expect(raised({ turns: 3 }, {}, spent({ turns: 3 }), 1)).toEqual({ turns: 6 });
  });

  it("always leaves something to spend, and no bound goes down", () => {
    const amount = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 0, max: 10_000_000 }), (tokens, before, used) => {
        const granted = { tokens: before };
        const next = raised({ tokens }, granted, spent({ tokens: used }));
        expect(breachOf(next, spent({ tokens: used }))).toBeUndefined();
        expect(next.tokens).toBeGreaterThanOrEqual(boundsOf({ tokens }, granted).tokens as number);
      }),
    );
  });
});

describe("a budget of a subtree", () => {
  const AGENTS = 100;
  it(`is passed by one increment at most, whoever of ${AGENTS} agents reports, in whatever order (R27, I8)`, () => {
    let rounds = 0;
    const increment = fc.record({
      agent: fc.integer({ min: 0, max: AGENTS - 1 }),
      turns: fc.integer({ min: 0, max: 3 }),
      tokens: fc.integer({ min: 0, max: 5_000 }),
      usd: fc.double({ min: 0, max: 2, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(increment, { maxLength: 400 }), (reports) => {
        rounds += 1;
        const budget: Budget = { usd: 20, tokens: 100_000, turns: 150 };
        const each = new Map<number, SpentAmounts>();
        let sum = NOTHING_SPENT;
        let before = sum;
        for (const { agent, ...more } of reports) {
          // Everybody is paused: nobody reports any more.
          if (breachOf(budget, sum) !== undefined) break;
          const own = each.get(agent) ?? NOTHING_SPENT;
          const next = grown(own, {
            turns: own.turns + more.turns,
            tokens: own.tokens + more.tokens,
            usd: own.usd + more.usd,
          });
          before = sum;
          sum = moved(sum, own, next);
          each.set(agent, next);
        }
        expect(breachOf(budget, before)).toBeUndefined();
        const all = [...each.values()].reduce(
          (total, one) => moved(total, NOTHING_SPENT, one),
          NOTHING_SPENT,
        );
        expect([all.turns, all.tokens]).toEqual([sum.turns, sum.tokens]);
        expect(all.usd).toBeCloseTo(sum.usd, 6);
      }),
      { numRuns: full ? 2_000 : 100 },
    );
    figure("R27", { rounds, failures: 0, note: `random increments of ${AGENTS} agents against one budget` });
  });
});
