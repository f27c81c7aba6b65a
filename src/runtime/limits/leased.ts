/**
 * The budget of a worker that a cluster placed (decision 0091): this machine spends what the cluster has granted it, in portions, and
 * takes the next one before the last is spent. Sums are those of the whole cluster.
 */
import type { Budgets, GrantedPortion } from "../../actors/ports.ts";
import { CLUSTER_BUDGET_AGAIN_MS, CLUSTER_BUDGET_PORTIONS, CLUSTER_RETRY_MS } from "../../base/limits.ts";
import type { Budget, PlacedRight } from "../../protocol/worker.ts";
import type { BudgetField, SpentAmounts } from "../../supervisor/budgets/budgets.ts";

type Amounts = Readonly<Partial<Record<BudgetField, number>>>;

const fieldsOf = (budget: Amounts): readonly BudgetField[] => Object.keys(budget) as BudgetField[];

/** Dollars are divided; the others are whole. */
const portionOf = (field: BudgetField, limit: number): number =>
  field === "usd" ? limit / CLUSTER_BUDGET_PORTIONS : Math.ceil(limit / CLUSTER_BUDGET_PORTIONS);

/**
 * It wishes so much that two portions are left, where less than one is left of what it was granted. Undefined where it has
 * enough.
 */
export const wishedOf = (limits: Amounts, granted: Amounts, spent: SpentAmounts): Amounts | undefined => {
  const low = fieldsOf(limits).flatMap((field) => {
    const portion = portionOf(field, limits[field]!);
    const has = granted[field] ?? 0;
    return has <= spent[field] + portion ? [[field, spent[field] + 2 * portion] as const] : [];
  });
  return low.length === 0 ? undefined : Object.fromEntries(low);
};

export class PortionedBudget {
  private readonly budgets: Budgets;
  private readonly right: PlacedRight;
  private readonly holder: string;
  private readonly monoMs: () => number;
  private limits: Amounts;
  private granted: Amounts = {};
  /** Spent or held by others. */
  private elsewhere: Amounts = {};
  /** `away`: the cluster did not answer, so nothing more may be spent. */
  private state: "new" | "known" | "away" = "new";
  private isAsking = false;
  /** The call that is under way, or the last one. */
  private taking: Promise<void> = Promise.resolve();
  /** An answer to a question of an earlier one says nothing any more. */
  private round = 0;
  private isSettled = false;
  private askAgainAt = 0;

  constructor(
    budgets: Budgets,
    {
      right,
      holder,
      budget,
    }: { readonly right: PlacedRight; readonly holder: string; readonly budget: Budget },
    monoMs: () => number,
  ) {
    this.budgets = budgets;
    this.right = right;
    this.holder = holder;
    this.limits = budget;
    this.monoMs = monoMs;
  }

  /** Nobody knows whether the whole budget is spent. */
  get isAway(): boolean {
    return this.state === "away";
  }

  /** The bounds of the whole budget, as a person has raised them. */
  whole(): Budget {
    return this.limits;
  }

  /** The sum of the whole cluster at which this machine may spend no more. While it asks for more it may go on. */
  bounds(): Budget {
    if (this.state !== "away" && (this.isAsking || this.state === "new")) return this.limits;
    return this.of((field, limit) => Math.min(limit, sumOf(this.granted[field], this.elsewhere[field])));
  }

  total(here: SpentAmounts): SpentAmounts {
    return { ...here, ...this.of((field) => sumOf(here[field], this.elsewhere[field])) };
  }

  /** Takes more where little is left. `changed` is called when the answer is there. */
  look(spent: SpentAmounts, changed: () => void): void {
    if (this.isSettled || this.isAsking || this.monoMs() < this.askAgainAt) return;
    const wished = wishedOf(this.limits, this.granted, spent);
    if (wished === undefined) return;
    this.isAsking = true;
    const { round } = this;
    this.taking = this.budgets.take({ ...this.asker(), budget: this.limits, wished, spent }).then(
      (portion) => {
        if (round === this.round) this.hear(portion, spent);
      },
      () => {
        if (round !== this.round) return;
        this.state = "away";
        this.askAgainAt = this.monoMs() + CLUSTER_RETRY_MS;
      },
    );
    void this.taking.finally(() => {
      this.isAsking = false;
      changed();
    });
  }

  /** Rejects with UNAVAILABLE while the cluster cannot be asked. */
  async raise(bounds: Budget): Promise<void> {
    await this.budgets.raise({ ...this.asker(), bounds });
    this.limits = { ...this.limits, ...bounds };
    this.round += 1;
    this.state = "new";
    this.askAgainAt = 0;
  }

  /** It spends no more here, so the rest is for others. Without an answer the rest counts as spent. */
  settle(spent: SpentAmounts): void {
    const settling = () =>
      this.budgets.settle({ ...this.asker(), budget: this.limits, spent }).catch(() => {});
    this.round += 1;
    this.isSettled = true;
    void settling();
    // A portion that is being taken may be granted after it.
    if (this.isAsking) void this.taking.then(settling);
  }

  private hear({ limits, granted, elsewhere }: GrantedPortion, spent: SpentAmounts): void {
    this.limits = limits;
    this.granted = granted;
    this.elsewhere = elsewhere;
    this.state = "known";
    const isLow = wishedOf(limits, granted, spent) !== undefined;
    this.askAgainAt = isLow ? this.monoMs() + CLUSTER_BUDGET_AGAIN_MS : 0;
  }

  private asker(): { readonly right: PlacedRight; readonly holder: string } {
    return { right: this.right, holder: this.holder };
  }

  private of(one: (field: BudgetField, limit: number) => number): Budget {
    return Object.fromEntries(fieldsOf(this.limits).map((field) => [field, one(field, this.limits[field]!)]));
  }
}

/** Sums of binary fractions drift, and a bound that is reached is not passed. */
const sumOf = (a = 0, b = 0): number => Math.round((a + b) * 1e9) / 1e9;
