/** Portions of budgets that a worker spends no more, until the cluster has heard of it: it may be away, or not be asked yet after a start. */
import { CLUSTER_BUDGET_AGAIN_MS, CLUSTER_UNSETTLED_MAX, CLUSTER_UNSETTLED_MS } from "../../base/limits.ts";
import type { SpentAmounts } from "../../supervisor/budgets/budgets.ts";
import type { PortionedBudget } from "./leased.ts";

interface PortionToSettle {
  readonly portion: PortionedBudget;
  readonly spent: SpentAmounts;
  readonly since: number;
  askAgainAt: number;
}

export class Settlements {
  private readonly monoMs: () => number;
  private readonly left = new Map<string, PortionToSettle>();

  constructor(monoMs: () => number) {
    this.monoMs = monoMs;
  }

  settle(key: string, portion: PortionedBudget, spent: SpentAmounts): void {
    const now = this.monoMs();
    const one = { portion, spent, since: now, askAgainAt: now + CLUSTER_BUDGET_AGAIN_MS };
    if (this.left.size < CLUSTER_UNSETTLED_MAX) this.left.set(key, one);
    this.ask(key, one);
  }

  /** A next life of its worker takes more. */
  forget(key: string): void {
    this.left.delete(key);
  }

  readonly again = (): void => {
    const now = this.monoMs();
    for (const [key, one] of this.left) {
      if (now < one.askAgainAt) continue;
      one.askAgainAt = now + CLUSTER_BUDGET_AGAIN_MS;
      if (now - one.since > CLUSTER_UNSETTLED_MS) this.left.delete(key);
      else this.ask(key, one);
    }
  };

  private ask(key: string, one: PortionToSettle): void {
    void one.portion.settle(one.spent).then((isTold) => {
      if (isTold && this.left.get(key) === one) this.left.delete(key);
    });
  }
}
