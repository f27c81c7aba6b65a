/**
 * A budget over several nodes is leased in portions: a node spends what it was given without asking, and all portions together are
 * never more than the limit. Units are those of the budget. Pure.
 */

export interface LeasedBudget {
  readonly limit: number;
  /** The portions that nodes hold, by their ids. */
  readonly portions: ReadonlyMap<string, BudgetPortion>;
  /** Spent by nodes that hold nothing any more. */
  readonly spent: number;
}

export interface BudgetPortion {
  readonly granted: number;
  /** As the node has told. */
  readonly spent: number;
}

const sumOf = (portions: Iterable<BudgetPortion>): number =>
  [...portions].reduce((sum, { granted }) => sum + granted, 0);

export const leftOf = ({ limit, portions, spent }: LeasedBudget): number =>
  Math.max(0, limit - spent - sumOf(portions.values()));

/** As much of what is asked as is left. */
export const grant = (
  budget: LeasedBudget,
  node: string,
  asked: number,
): { readonly budget: LeasedBudget; readonly granted: number } => {
  const granted = Math.min(asked, leftOf(budget));
  const held = budget.portions.get(node) ?? { granted: 0, spent: 0 };
  const portion = { ...held, granted: held.granted + granted };
  return { budget: { ...budget, portions: new Map(budget.portions).set(node, portion) }, granted };
};

/** A person grants more. A bound never falls. */
export const limited = (budget: LeasedBudget, limit: number): LeasedBudget =>
  limit <= budget.limit ? budget : { ...budget, limit };

/** A holder keeps what it has spent, and gives the rest back. It may take more later, as one that was granted just that. */
export const settle = (budget: LeasedBudget, holder: string, spent: number): LeasedBudget => {
  const held = budget.portions.get(holder);
  if (held === undefined) return budget;
  const used = Math.max(spent, held.spent);
  return { ...budget, portions: new Map(budget.portions).set(holder, { granted: used, spent: used }) };
};

/** A node tells what it has spent in all of its portion. Less than before is an old message. */
export const report = (budget: LeasedBudget, node: string, spent: number): LeasedBudget => {
  const held = budget.portions.get(node);
  if (held === undefined || spent <= held.spent) return budget;
  return { ...budget, portions: new Map(budget.portions).set(node, { ...held, spent }) };
};

/**
 * A node gives its portion back. One that died does not say what it spent: then all of its portion counts as spent, because nobody
 * knows better.
 */
export const close = (budget: LeasedBudget, node: string, spent: number | "unknown"): LeasedBudget => {
  const held = budget.portions.get(node);
  if (held === undefined) return budget;
  const portions = new Map(budget.portions);
  portions.delete(node);
  const used = spent === "unknown" ? held.granted : Math.max(spent, held.spent);
  return { ...budget, portions, spent: budget.spent + used };
};
