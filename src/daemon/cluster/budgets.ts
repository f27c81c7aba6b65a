/** The budgets of placed workers as rows of the cluster, one for each bound: all machines take their portions from these (decision 0091). */
import type { AskedPortion, Budgets, GrantedPortion } from "../../actors/ports.ts";
import { CLUSTER_ANSWER_MS } from "../../base/limits.ts";
import { grant, type LeasedBudget, leftOf, limited, report, settle } from "../../cluster/budgets.ts";
import type { ClusterStore } from "../../cluster/store.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { Budget } from "../../protocol/worker.ts";

export class PlacedBudgets implements Budgets {
  private readonly store: Pick<ClusterStore, "withBudget">;

  constructor(store: Pick<ClusterStore, "withBudget">) {
    this.store = store;
  }

  async take({ right, holder, budget, wished, spent }: AskedPortion): Promise<GrantedPortion> {
    const taken = await this.each(right.worker, budget, (known, field) => {
      const before = known ?? { limit: budget[field]!, portions: new Map(), spent: 0 };
      const has = before.portions.get(holder)?.granted ?? 0;
      const more = Math.max(0, (wished[field] ?? 0) - has);
      const { budget: after } = grant(report(before, holder, spent[field]), holder, more);
      const granted = after.portions.get(holder)?.granted ?? 0;
      const elsewhere = after.limit - leftOf(after) - granted;
      return { after, result: { limits: after.limit, granted, elsewhere } };
    });
    const of = (part: keyof GrantedPortion): Budget =>
      Object.fromEntries(taken.map(([field, one]) => [field, one[part]]));
    return { limits: of("limits"), granted: of("granted"), elsewhere: of("elsewhere") };
  }

  async raise({ right, bounds }: Parameters<Budgets["raise"]>[0]): Promise<void> {
    await this.each(right.worker, bounds, (known, field) => ({
      after: known && limited(known, bounds[field]!),
      result: undefined,
    }));
  }

  async settle({ right, holder, budget, spent }: Parameters<Budgets["settle"]>[0]): Promise<void> {
    await this.each(right.worker, budget, (known, field) => ({
      after: known && settle(known, holder, spent[field]),
      result: undefined,
    }));
  }

  /** Each bound is a row of its own. One that nobody has taken from is not there. */
  private each<Result>(
    worker: string,
    budget: Budget,
    change: (
      known: LeasedBudget | undefined,
      field: keyof Budget,
    ) => { readonly after?: LeasedBudget | undefined; readonly result: Result },
  ): Promise<readonly (readonly [keyof Budget, Result])[]> {
    const fields = Object.keys(budget) as (keyof Budget)[];
    const changed = fields.map(async (field) => {
      const result = await this.store.withBudget(`${worker}/${field}`, (known) => change(known, field));
      return [field, result] as const;
    });
    return inTime(Promise.all(changed));
  }
}

const inTime = <Result>(answer: Promise<Result>): Promise<Result> => {
  const late = Promise.withResolvers<Result>();
  const timer = setTimeout(
    () => late.reject(new HoldfastError("UNAVAILABLE", "The database of the cluster gave no answer.")),
    CLUSTER_ANSWER_MS,
  );
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
};
