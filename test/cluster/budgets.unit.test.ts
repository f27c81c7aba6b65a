/** A budget in portions: all nodes together spend no more than its limit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  closed,
  declared,
  elsewhereOf,
  grant,
  isFound,
  isStopped,
  type LeasedBudget,
  leftOf,
  limited,
  report,
  settle,
  share,
} from "../../src/cluster/budgets.ts";

const fresh = (limit: number): LeasedBudget => ({ limit, portions: new Map(), spent: 0 });

describe("a leased budget", () => {
  it("gives as much of what is asked as is left", () => {
    const first = grant(fresh(10), "a", 6);
    expect(first.granted).toBe(6);
    expect(grant(first.budget, "b", 6).granted).toBe(4);
  });

  it("believes no report that is older than one before", () => {
    const { budget } = grant(fresh(10), "a", 6);
    const told = report(report(budget, "a", 5), "a", 1);
    expect(leftOf(settle(told, "a", 3))).toBe(5);
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
      const lives = new Map<string, number>();
      const holderOf = (node: string): string => `${node}-${lives.get(node) ?? 0}`;
      for (const { type, node, amount } of deeds) {
        const held = here.get(node) ?? { granted: 0, spent: 0 };
        if (type === "ask") {
          const given = grant(budget, holderOf(node), amount);
          budget = given.budget;
          here.set(node, { ...held, granted: held.granted + given.granted });
        } else if (type === "spend") {
          const more = Math.min(amount, held.granted - held.spent);
          spent += more;
          here.set(node, { ...held, spent: held.spent + more });
          if (amount % 2 === 0) budget = report(budget, holderOf(node), held.spent + more);
        } else {
          // All that a dead one was granted counts: nobody knows better. The next one on the node is another.
          if (type === "return") budget = settle(budget, holderOf(node), held.spent);
          lives.set(node, (lives.get(node) ?? 0) + 1);
          here.delete(node);
        }
        expect(spent).toBeLessThanOrEqual(limit);
      }
    });
    fc.assert(holds, { seed: 21 });
  });
});

describe("the budget of a file", () => {
  const ask = (wished: number, spent = 0) => ({ wished, spent, step: 1 });
  const grantedTo = ({ portions }: LeasedBudget, holder: string) => portions.get(holder)?.granted;

  it("gives each an equal part of what nobody has spent, at most, and keeps one for the next", () => {
    const one = share(fresh(60), "a", ask(100));
    expect(grantedTo(one, "a")).toBe(30);
    expect(grantedTo(share(one, "b", ask(100)), "b")).toBe(20);
    expect(grantedTo(share(one, "b", ask(5)), "b")).toBe(5);
  });

  it("takes back what an idle one holds, so that the last goes to the one who spends", () => {
    const both = share(share(fresh(60), "a", ask(30)), "b", ask(30));
    const late = share(both, "b", ask(100, 24));
    expect(grantedTo(late, "b")).toBe(30);
    const idle = share(late, "a", ask(30));
    expect(grantedTo(idle, "a")).toBe(12);
    expect(grantedTo(share(idle, "b", ask(100, 30)), "b")).toBe(40);
  });

  it("counts all that a lost one had, and only what one that was closed has spent", () => {
    const both = share(share(fresh(60), "a", ask(30)), "b", ask(100, 10));
    expect(elsewhereOf(both, "b")).toEqual({ counted: 30, told: 0 });
    expect(elsewhereOf(closed(both, "a", 4), "b")).toEqual({ counted: 4, told: 4 });
    expect(grantedTo(share(closed(both, "a", 4), "b", ask(100, 10)), "b")).toBe(33);
  });

  it("is spent for all at the limit at which one has found it so, until the limit is higher", () => {
    const found = { ...fresh(60), own: 60, found_at: 60, stopped_at: 60 };
    expect([isFound(found), isStopped(found)]).toEqual([true, true]);
    const raised = limited(found, 120);
    expect([isFound(raised), isStopped(raised)]).toEqual([false, false]);
    expect([declared(raised, 90).limit, declared(raised, 150).limit]).toEqual([120, 150]);
    expect(declared(found, 30).limit).toBe(30);
  });

  it("is never passed by more than each one's last increment, whoever asks, spends, is lost or comes back", () => {
    const deed = fc.record({
      type: fc.constantFrom("ask", "spend", "close", "lose"),
      node: fc.constantFrom("a", "b", "c"),
      amount: fc.nat(20),
    });
    const holds = fc.property(fc.nat(60), fc.array(deed, { maxLength: 80 }), (limit, deeds) => {
      let budget = fresh(limit);
      const here = new Map<string, { holder: string; granted: number; spent: number }>();
      let lives = 0;
      let [before, over] = [0, 0];
      for (const { type, node, amount } of deeds) {
        const held = here.get(node) ?? { holder: `${node}${lives++}`, granted: 0, spent: 0 };
        if (type === "ask") {
          budget = share(budget, held.holder, ask(held.spent + amount, held.spent));
          here.set(node, { ...held, granted: grantedTo(budget, held.holder)! });
        } else if (type === "spend") {
          // An increment counts when it is over: one that begins within the grant may pass it.
          const more = held.spent < held.granted ? amount : 0;
          over += Math.max(0, held.spent + more - Math.max(held.granted, held.spent));
          here.set(node, { ...held, spent: held.spent + more });
        } else {
          if (type === "close") budget = closed(budget, held.holder, held.spent);
          before += held.spent;
          here.delete(node);
        }
        const spent = [...here.values()].reduce((sum, one) => sum + one.spent, before);
        expect(spent).toBeLessThanOrEqual(limit + over);
      }
    });
    fc.assert(holds, { seed: 21 });
  });
});
