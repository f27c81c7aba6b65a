/** How long the budgets of the cluster wait for a database that is busy. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CLUSTER_ANSWER_MS, CLUSTER_DECISION_MS } from "../../../src/base/limits.ts";
import { PlacedBudgets } from "../../../src/daemon/cluster/budgets.ts";
import { NOTHING_SPENT } from "../../../src/supervisor/budgets/budgets.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A database that answers after so long. */
const budgetsAfter = (ms: number): PlacedBudgets =>
  new PlacedBudgets({
    withBudget: (_name, change) =>
      new Promise((resolve) => setTimeout(() => resolve(change(undefined).result), ms)),
  });

const name = { worker: "w" };
const bounds = { turns: 2 };

const codeAfter = async (ms: number, call: Promise<unknown>): Promise<unknown> => {
  const code = call.then(
    () => undefined,
    (error: { readonly code?: unknown }) => error.code,
  );
  await vi.advanceTimersByTimeAsync(ms);
  return code;
};

it("a decision of a person is taken late, and a portion is asked for again", async () => {
  const late = CLUSTER_ANSWER_MS + 1;
  const budgets = budgetsAfter(late);
  expect(await codeAfter(late, budgets.raise({ name, holder: "W", bounds }))).toBeUndefined();
  expect(await codeAfter(late, budgets.stop({ name, holder: "W", bounds }))).toBeUndefined();
  expect(await codeAfter(late, budgets.declare("shop", bounds))).toBeUndefined();
  const asked = { name, holder: "W", budget: bounds, wished: bounds, spent: NOTHING_SPENT };
  expect(await codeAfter(late, budgets.take(asked))).toBe("UNAVAILABLE");
});

it("a decision is tried again where no connection was free, and not where the database says no", async () => {
  let tries = 0;
  const refusing = (error: Error) =>
    new PlacedBudgets({
      withBudget: async (_name, change) => {
        tries += 1;
        if (tries === 1) throw error;
        return change(undefined).result;
      },
    });
  const late = refusing(new Error("timeout exceeded when trying to connect"));
  expect(await codeAfter(CLUSTER_DECISION_MS, late.raise({ name, holder: "W", bounds }))).toBeUndefined();
  expect(tries).toBe(2);
  tries = 0;
  const away = refusing(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
  expect(await codeAfter(CLUSTER_DECISION_MS, away.raise({ name, holder: "W", bounds }))).toBe(
    "ECONNREFUSED",
  );
  expect(tries).toBe(1);
});

it("a person is told of a database that gives no answer", async () => {
  const budgets = budgetsAfter(CLUSTER_DECISION_MS + 1);
  const raised = budgets.raise({ name, holder: "W", bounds });
  expect(await codeAfter(CLUSTER_DECISION_MS + 1, raised)).toBe("UNAVAILABLE");
});
