/**
 * The budget of a file whose workers run on several machines (decision 0094). Each machine spends a portion of it, looks at it each
 * second, and gives back what it does not need. It is spent for all as soon as one machine finds nothing left.
 */
import type { GrantedPortion } from "../../actors/ports.ts";
import { CLUSTER_TREE_BUDGET_LOOK_MS, CLUSTER_TREE_BUDGET_LOOKS } from "../../base/limits.ts";
import type { Budget } from "../../protocol/worker.ts";
import type { BudgetField, SpentAmounts } from "../../supervisor/budgets/budgets.ts";
import { type Amounts, fieldsOf, PortionedBudget, portionOf } from "./leased.ts";

/** The least that is more than a bound. */
const leastOf = (field: BudgetField): number => (field === "usd" ? 1e-9 : 1);

export class SharedPortion extends PortionedBudget {
  private told: Amounts = {};
  private foundThere: readonly BudgetField[] = [];
  /** With the limit at which this machine found it spent. */
  private readonly foundHere = new Map<BudgetField, number>();
  private isEnded = false;
  /** The rest that the last answer left for this machine. */
  private room: Amounts = {};
  private lookAt = 0;
  /** Answers in a row that left nothing for the one who spends here. */
  private misses = 0;
  private isMissing = false;
  private isHeard = false;

  /** Others may still give something back. */
  override get isUncertain(): boolean {
    return super.isUncertain || (this.found() === undefined && this.misses < CLUSTER_TREE_BUDGET_LOOKS);
  }

  override get isUnknown(): boolean {
    return !this.isHeard;
  }

  override get isStopped(): boolean {
    return this.isEnded;
  }

  override found(): BudgetField | undefined {
    return fieldsOf(this.limits).find(
      (field) => this.foundThere.includes(field) || this.limits[field] === this.foundHere.get(field),
    );
  }

  override find(field: BudgetField): void {
    if (this.found() !== undefined) return;
    this.foundHere.set(field, this.limits[field]!);
    this.lookAt = 0;
  }

  override passed(total: SpentAmounts): SpentAmounts {
    const field = this.found();
    if (field === undefined) return total;
    return { ...total, [field]: Math.max(total[field], this.limits[field]! + leastOf(field)) };
  }

  override shown(here: SpentAmounts): SpentAmounts {
    return this.beside(here, this.told);
  }

  override async stop(): Promise<void> {
    await this.budgets.stop({ ...this.asker(), bounds: this.limits });
    this.lookAt = 0;
  }

  override async raise(bounds: Budget): Promise<void> {
    await super.raise(bounds);
    this.begin();
  }

  /** The file's own bounds say little: a person may have raised them. */
  override bounds(): Budget {
    return this.isUnknown && this.state === "new" ? {} : super.bounds();
  }

  protected override mayGoOn(): boolean {
    return this.misses === 0 && super.mayGoOn();
  }

  override heard(isMissing: boolean): void {
    this.isMissing = isMissing;
    this.misses = isMissing ? this.misses + 1 : 0;
  }

  protected override wished(spent: SpentAmounts, isUsed: () => boolean): Amounts | undefined {
    const now = this.monoMs();
    const isLow = (field: BudgetField): boolean => {
      const room = this.room[field] ?? 0;
      return room > 0 && (this.granted[field] ?? 0) - spent[field] <= room / 2;
    };
    const fields = fieldsOf(this.limits);
    const isDue = now >= this.lookAt || (!this.isMissing && fields.some(isLow));
    if (now < this.askAgainAt || !isDue) return undefined;
    const ahead = isUsed() ? 2 : 0;
    return Object.fromEntries(
      fields.map((field) => [field, spent[field] + ahead * portionOf(field, this.limits[field]!)]),
    );
  }

  protected override news(): { readonly found?: readonly BudgetField[] } {
    const found = [...this.foundHere].flatMap(([field, at]) => (at === this.limits[field] ? [field] : []));
    return found.length === 0 ? {} : { found };
  }

  protected override hear(portion: GrantedPortion, spent: SpentAmounts): void {
    const before = this.limits;
    this.isHeard = true;
    super.hear(portion, spent);
    const { told = {}, found = [], isStopped = false, granted, limits } = portion;
    this.told = told;
    this.foundThere = found;
    this.isEnded = isStopped;
    this.room = Object.fromEntries(
      fieldsOf(limits).map((field) => [field, Math.max(0, (granted[field] ?? 0) - spent[field])]),
    );
    this.askAgainAt = 0;
    this.lookAt = this.monoMs() + CLUSTER_TREE_BUDGET_LOOK_MS;
    if (fieldsOf(limits).some((field) => (limits[field] ?? 0) > (before[field] ?? 0))) this.misses = 0;
  }

  /** A person has granted more. */
  private begin(): void {
    this.foundThere = [];
    this.isEnded = false;
    this.misses = 0;
    this.isMissing = false;
    this.lookAt = 0;
  }
}
