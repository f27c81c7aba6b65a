/** The portion of a budget that a machine has: what it takes, what it may spend meanwhile, and while nobody answers. */
import { describe, expect, it, vi } from "vitest";
import type { AskedPortion, Budgets, GrantedPortion } from "../../../src/actors/ports.ts";
import { CLUSTER_BUDGET_AGAIN_MS, CLUSTER_RETRY_MS } from "../../../src/base/limits.ts";
import type { LeasedBudget } from "../../../src/cluster/budgets.ts";
import { PlacedBudgets } from "../../../src/daemon/cluster/budgets.ts";
import { PortionedBudget, wishedOf } from "../../../src/runtime/limits/leased.ts";
import { breachOf, NOTHING_SPENT, type SpentAmounts } from "../../../src/supervisor/budgets/budgets.ts";

const WORKER = { worker: "w" };
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
      granted.turns += Math.min(left, Math.max(0, (ask.wished.turns ?? 0) - granted.turns));
      return { limits: { turns: 16 }, granted: { ...granted }, elsewhere: { turns: elsewhere } };
    },
    raise: vi.fn(async () => {}),
    settle: vi.fn(async () => {}),
    stop: vi.fn(async () => {}),
  };
  const portion = new PortionedBudget(
    budgets,
    { name: WORKER, holder: "W", budget: { turns: 16 } },
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
    expect(wishedOf(LIMITS, {}, NOTHING_SPENT)).toEqual({ turns: 2, usd: 0.2 });
    expect(wishedOf(LIMITS, { turns: 2, usd: 0.2 }, NOTHING_SPENT)).toBeUndefined();
    expect(wishedOf(LIMITS, { turns: 2, usd: 0.2 }, spending(1, 0.05))).toEqual({ turns: 3 });
    expect(wishedOf(LIMITS, { turns: 2, usd: 0.2 }, spending(0, 0.5))?.usd).toBeCloseTo(0.7);
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

/** The rows of a cluster in memory. `late`: calls that wait for it before they change a row; `slow`: those that wait after it. */
const makeRows = () => {
  const rows = new Map<string, LeasedBudget>();
  const waits = { late: Promise.resolve(), slow: Promise.resolve() };
  const budgets = new PlacedBudgets({
    withBudget: async (name, change) => {
      await waits.late;
      const { after, result } = change(rows.get(name));
      if (after !== undefined) rows.set(name, after);
      await waits.slow;
      return result;
    },
  });
  const portion = (): PortionedBudget =>
    new PortionedBudget(budgets, { name: WORKER, holder: "W", budget: { turns: 16 } }, () => 0);
  const row = () => rows.get("w/turns")!.portions.get("W");
  return { budgets, portion, row, waits };
};
const looked = (portion: PortionedBudget, spent: SpentAmounts): Promise<void> =>
  new Promise((resolve) => portion.look(spent, resolve));

describe("a portion in a row of the cluster", () => {
  it("is granted once, however often its daemon starts again, and however late the answers are", async () => {
    const { budgets, portion, row } = makeRows();
    for (let start = 0; start < 3; start++) await looked(portion(), spending(7));
    expect(row()).toEqual({ granted: 9, spent: 7 });
    const again = { name: WORKER, holder: "W", budget: { turns: 16 }, wished: { turns: 11 } };
    for (let answer = 0; answer < 3; answer++) await budgets.take({ ...again, spent: spending(9) });
    expect(row()).toEqual({ granted: 11, spent: 9 });
  });

  it("goes back whole at the end, also if more was being taken", async () => {
    const { portion, row, waits } = makeRows();
    const one = portion();
    await looked(one, spending(0));
    const late = Promise.withResolvers<void>();
    waits.late = late.promise;
    const taken = looked(one, spending(1));
    waits.late = Promise.resolve();
    one.settle(spending(1));
    late.resolve();
    await taken;
    await vi.waitFor(() => expect(row()).toEqual({ granted: 1, spent: 1 }));
    one.look(spending(2), () => {});
    expect(row()).toEqual({ granted: 1, spent: 1 });
  });

  it("does not take back what a person has raised meanwhile", async () => {
    const { portion, waits } = makeRows();
    const one = portion();
    await looked(one, spending(0));
    const slow = Promise.withResolvers<void>();
    waits.slow = slow.promise;
    const taken = looked(one, spending(1));
    waits.slow = Promise.resolve();
    await one.raise({ turns: 32 });
    slow.resolve();
    await taken;
    expect(one.whole()).toEqual({ turns: 32 });
    expect(breachOf(one.bounds(), one.total(spending(17)))).toBeUndefined();
  });
});
