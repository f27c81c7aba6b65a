/** A budget in portions: all nodes together spend no more than its limit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  close,
  grant,
  type LeasedBudget,
  leftOf,
  limited,
  report,
  settle,
} from "../../src/cluster/budgets.ts";

const fresh = (limit: number): LeasedBudget => ({ limit, portions: new Map(), spent: 0 });

describe("a leased budget", () => {
  it("gives as much of what is asked as is left", () => {
    const first = grant(fresh(10), "a", 6);
    expect(first.granted).toBe(6);
    expect(grant(first.budget, "b", 6).granted).toBe(4);
  });

  it("gets back what a node did not spend, and nothing from one that died", () => {
    const { budget } = grant(fresh(10), "a", 6);
    expect(leftOf(close(budget, "a", 2))).toBe(8);
    expect(leftOf(close(budget, "a", "unknown"))).toBe(4);
  });

  it("believes no report that is older than one before", () => {
    const { budget } = grant(fresh(10), "a", 6);
    const told = report(report(budget, "a", 5), "a", 1);
    expect(leftOf(close(told, "a", 3))).toBe(5);
  });

  it("leaves a holder that settles what it has spent, and lets it take more later", () => {
    const { budget } = grant(fresh(10), "a", 6);
    const settled = settle(budget, "a", 2);
    expect(leftOf(settled)).toBe(8);
    expect(leftOf(grant(settled, "a", 3).budget)).toBe(5);
    expect(settle(fresh(10), "b", 4)).toEqual(fresh(10));
  });

  it("grows, and never shrinks", () => {
    expect(leftOf(limited(fresh(10), 20))).toBe(20);
    expect(leftOf(limited(fresh(10), 5))).toBe(10);
  });

  it("holds for any order of nodes that ask, spend, return and die", () => {
    const deed = fc.record({
      type: fc.constantFrom("ask", "spend", "return", "die"),
      node: fc.constantFrom("a", "b", "c"),
      amount: fc.nat(20),
    });
    const holds = fc.property(fc.nat(50), fc.array(deed, { maxLength: 60 }), (limit, deeds) => {
      let budget = fresh(limit);
      let spent = 0;
      const here = new Map<string, { granted: number; spent: number }>();
      for (const { type, node, amount } of deeds) {
        const held = here.get(node) ?? { granted: 0, spent: 0 };
        if (type === "ask") {
          const given = grant(budget, node, amount);
          budget = given.budget;
          here.set(node, { ...held, granted: held.granted + given.granted });
        } else if (type === "spend") {
          const more = Math.min(amount, held.granted - held.spent);
          spent += more;
          here.set(node, { ...held, spent: held.spent + more });
          if (amount % 2 === 0) budget = report(budget, node, held.spent + more);
        } else {
          budget = close(budget, node, type === "die" ? "unknown" : held.spent);
          here.delete(node);
        }
        expect(spent).toBeLessThanOrEqual(limit);
      }
    });
    fc.assert(holds, { seed: 21 });
  });
});
