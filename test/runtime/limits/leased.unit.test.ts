/** The portion of a budget that a machine has: what it takes, what it may spend meanwhile, and while nobody answers. */
import { describe, expect, it, vi } from "vitest";
import type { AskedPortion, Budgets, GrantedPortion } from "../../../src/actors/ports.ts";
import { CLUSTER_BUDGET_AGAIN_MS, CLUSTER_RETRY_MS } from "../../../src/base/limits.ts";
import { missing, PortionedBudget } from "../../../src/runtime/limits/leased.ts";
import { breachOf, NOTHING_SPENT, type SpentAmounts } from "../../../src/supervisor/budgets/budgets.ts";

const RIGHT = { node: "a", worker: "w", term: 1, on_partition: "stop" } as const;
const LIMITS = { turns: 16, usd: 1.6 };

const spending = (turns: number, usd = 0): SpentAmounts => ({ ...NOTHING_SPENT, turns, usd });

/** A cluster that has granted `elsewhere` to others, and answers when it is told to. */
const makeClusterOf = (elsewhere: number) => {
  let now = 0;
  let isAway = false;
  const asked: AskedPortion[] = [];
  const granted = { turns: 0 };
  const budgets: Budgets = {
    take: async (ask): Promise<GrantedPortion> => {
      asked.push(ask);
      if (isAway) throw new Error("away");
      const left = 16 - elsewhere - granted.turns;
      granted.turns += Math.min(left, ask.asked.turns ?? 0);
      return { limits: { turns: 16 }, granted: { ...granted }, elsewhere: { turns: elsewhere } };
    },
    raise: vi.fn(async () => {}),
    settle: vi.fn(async () => {}),
  };
  const portion = new PortionedBudget(
    budgets,
    { right: RIGHT, holder: "W", budget: { turns: 16 } },
    () => now,
  );
  const look = (spent: SpentAmounts): Promise<void> =>
    new Promise((resolve) => {
      const before = asked.length;
      portion.look(spent, resolve);
      if (asked.length === before) resolve();
    });
  return {
    asked,
    budgets,
    portion,
    look,
    pass: (ms: number) => {
      now += ms;
    },
    isAway: (is: boolean) => {
      isAway = is;
    },
    isOver: (spent: SpentAmounts) => breachOf(portion.bounds(), portion.total(spent)) !== undefined,
  };
};

describe("a portion", () => {
  it("is asked for where less than one is left, so that two are left then", () => {
    expect(missing(LIMITS, {}, NOTHING_SPENT)).toEqual({ turns: 2, usd: 0.2 });
    expect(missing(LIMITS, { turns: 2, usd: 0.2 }, NOTHING_SPENT)).toBeUndefined();
    expect(missing(LIMITS, { turns: 2, usd: 0.2 }, spending(1, 0.05))).toEqual({ turns: 1 });
    expect(missing(LIMITS, { turns: 2, usd: 0.2 }, spending(0, 0.5))?.usd).toBeCloseTo(0.5);
  });

  it("covers what is spent here, beside what others have, until the whole is spent", async () => {
    const { look, isOver, portion, pass } = makeClusterOf(10);
    await look(spending(0));
    for (let turns = 0; turns <= 6; turns++) {
      pass(CLUSTER_BUDGET_AGAIN_MS);
      await look(spending(turns));
      expect(isOver(spending(turns))).toBe(false);
    }
    expect(isOver(spending(7))).toBe(true);
    expect(breachOf(portion.bounds(), portion.total(spending(7)))).toEqual({
      limit: "turns",
      value: 17,
      bound: 16,
    });
  });

  it("may be passed while the next one is asked for, and not while nobody answers", async () => {
    const { look, isOver, isAway, pass } = makeClusterOf(0);
    await look(spending(0));
    isAway(true);
    const asking = look(spending(5));
    expect(isOver(spending(5))).toBe(false);
    await asking;
    expect(isOver(spending(5))).toBe(true);
    isAway(false);
    pass(CLUSTER_RETRY_MS);
    await look(spending(5));
    expect(isOver(spending(5))).toBe(false);
  });

  it("is not asked for again and again where nothing is left", async () => {
    const { look, asked, pass } = makeClusterOf(16);
    await look(spending(0));
    await look(spending(0));
    expect(asked).toHaveLength(1);
    pass(CLUSTER_BUDGET_AGAIN_MS);
    await look(spending(0));
    expect(asked).toHaveLength(2);
  });

  it("is larger once a person has raised the budget, and its rest goes back", async () => {
    const { look, isOver, portion, budgets } = makeClusterOf(16);
    await look(spending(1));
    expect(isOver(spending(1))).toBe(true);
    await portion.raise({ turns: 32 });
    expect(isOver(spending(1))).toBe(false);
    expect(portion.whole()).toEqual({ turns: 32 });
    portion.settle(spending(1));
    expect(budgets.settle).toHaveBeenCalledWith(expect.objectContaining({ holder: "W", spent: spending(1) }));
  });
});
