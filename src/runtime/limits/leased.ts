/**
 * The budget of a worker that a cluster placed (decision 0091): this machine spends what the cluster has granted it, in portions, and
 * takes the next one before the last is spent. Sums are those of the whole cluster.
 */
import type { Budgets, GrantedPortion, PortionHolder } from "../../actors/ports.ts";
import { CLUSTER_BUDGET_AGAIN_MS, CLUSTER_BUDGET_PORTIONS, CLUSTER_RETRY_MS } from "../../base/limits.ts";
import type { Budget } from "../../protocol/worker.ts";
import type { BudgetField, SpentAmounts } from "../../supervisor/budgets/budgets.ts";

export type Amounts = Readonly<Partial<Record<BudgetField, number>>>;

export const fieldsOf = (budget: Amounts): readonly BudgetField[] => Object.keys(budget) as BudgetField[];

/** Dollars are divided; the others are whole. */
export const portionOf = (field: BudgetField, limit: number): number =>
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
  protected readonly budgets: Budgets;
  private readonly of_whom: PortionHolder;
  protected readonly monoMs: () => number;
  protected limits: Amounts;
  protected granted: Amounts = {};
  /** Spent or held by others. */
  private elsewhere: Amounts = {};
  /** Its questions on all machines are one, by this. */
  shared_id: string | undefined;
  /** `away`: the cluster did not answer, so nothing more may be spent. */
  protected state: "new" | "known" | "away" = "new";
  protected isAsking = false;
  /** The call that is under way, or the last one. */
  private taking: Promise<void> = Promise.resolve();
  /** An answer to a question of an earlier one says nothing any more. */
  private round = 0;
  private isSettled = false;
  protected askAgainAt = 0;

  constructor(
    budgets: Budgets,
    { name, holder, budget }: PortionHolder & { readonly budget: Budget },
    monoMs: () => number,
  ) {
    this.budgets = budgets;
    this.of_whom = { name, holder };
    this.limits = budget;
    this.monoMs = monoMs;
  }

  /** Nobody knows whether the whole budget is spent. */
  get isUncertain(): boolean {
    return this.state === "away";
  }

  /** Nothing is known of what the cluster granted, or of bounds that a person has raised. */
  get isUnknown(): boolean {
    return false;
  }

  /** A person has ended all who spend from it. */
  get isStopped(): boolean {
    return false;
  }

  /** A bound that another machine has found spent. */
  found(): BudgetField | undefined {
    return undefined;
  }

  /** This machine has found it spent. */
  find(_field: BudgetField): void {}

  /** An answer has come: whether those who spend here lack something after it. */
  heard(_isMissing: boolean): void {}

  /** The spending that a person is asked to allow. */
  passed(total: SpentAmounts): SpentAmounts {
    return total;
  }

  /** As it is shown. */
  shown(here: SpentAmounts): SpentAmounts {
    return this.total(here);
  }

  /** A person ends all who spend from it, on all machines. Rejects with UNAVAILABLE while the cluster cannot be asked. */
  async stop(): Promise<void> {}

  /** The bounds of the whole budget, as a person has raised them. */
  whole(): Budget {
    return this.limits;
  }

  /** The sum of the whole cluster at which this machine may spend no more. While it asks for more it may go on. */
  bounds(): Budget {
    if (this.mayGoOn()) return this.limits;
    return this.of((field, limit) => Math.min(limit, sumOf(this.granted[field], this.elsewhere[field])));
  }

  protected mayGoOn(): boolean {
    return this.state !== "away" && (this.isAsking || this.state === "new");
  }

  total(here: SpentAmounts): SpentAmounts {
    return this.beside(here, this.elsewhere);
  }

  /** Takes more where little is left. `changed` is called when the answer is there; `isUsed`: somebody spends from it. */
  look(spent: SpentAmounts, changed: () => void, isUsed = (): boolean => true): void {
    if (this.isSettled || this.isAsking) return;
    const wished = this.wished(spent, isUsed);
    if (wished === undefined) return;
    this.isAsking = true;
    const { round } = this;
    const asked = { ...this.asker(), budget: this.limits, wished, spent, ...this.news() };
    this.taking = this.budgets.take(asked).then(
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

  /** All that it wants to have been granted; undefined: it does not ask. */
  protected wished(spent: SpentAmounts, _isUsed: () => boolean): Amounts | undefined {
    return this.monoMs() < this.askAgainAt ? undefined : wishedOf(this.limits, this.granted, spent);
  }

  protected news(): { readonly found?: readonly BudgetField[] } {
    return {};
  }

  /** Rejects with UNAVAILABLE while the cluster cannot be asked. */
  async raise(bounds: Budget): Promise<void> {
    await this.budgets.raise({ ...this.asker(), bounds });
    this.limits = { ...this.limits, ...bounds };
    this.round += 1;
    this.state = "new";
    this.askAgainAt = 0;
  }

  /** It spends no more here, so the rest is for others. False without an answer: the rest counts as spent until there is one. */
  settle(spent: SpentAmounts): Promise<boolean> {
    const settling = () =>
      this.budgets.settle({ ...this.asker(), budget: this.limits, spent }).then(
        () => true,
        () => false,
      );
    this.round += 1;
    this.isSettled = true;
    const told = settling();
    // A portion that is being taken may be granted after it.
    return this.isAsking ? this.taking.then(settling) : told;
  }

  protected hear({ limits, granted, elsewhere, shared_id }: GrantedPortion, spent: SpentAmounts): void {
    this.shared_id = shared_id;
    this.limits = limits;
    this.granted = granted;
    this.elsewhere = elsewhere;
    this.state = "known";
    const isLow = wishedOf(limits, granted, spent) !== undefined;
    this.askAgainAt = isLow ? this.monoMs() + CLUSTER_BUDGET_AGAIN_MS : 0;
  }

  protected asker(): PortionHolder {
    return this.of_whom;
  }

  protected beside(here: SpentAmounts, elsewhere: Amounts): SpentAmounts {
    return { ...here, ...this.of((field) => sumOf(here[field], elsewhere[field])) };
  }

  private of(one: (field: BudgetField, limit: number) => number): Budget {
    return Object.fromEntries(fieldsOf(this.limits).map((field) => [field, one(field, this.limits[field]!)]));
  }
}

/** Sums of binary fractions drift, and a bound that is reached is not passed. */
const sumOf = (a = 0, b = 0): number => Math.round((a + b) * 1e9) / 1e9;
