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
  /** The budget of a tree has one, and another one when it begins anew. */
  readonly key?: string | undefined;
  /** As the file says it, in the budget of a tree. */
  readonly own?: number | undefined;
  /** The limit at which a node found the budget of a tree spent; a higher one is not spent. */
  readonly found_at?: number | undefined;
  /** The limit at which a person ended all who spend from it. */
  readonly stopped_at?: number | undefined;
}

export interface BudgetPortion {
  readonly granted: number;
  /** As the node has told. */
  readonly spent: number;
  /** It was given back. */
  readonly isClosed?: true;
}

/** A spent budget of a file, about which each worker asks in its own log. */
export interface SharedQuestion {
  readonly shared_id: string;
  /** The bound that is spent, and its value, in its unit. */
  readonly limit: string;
  readonly bound: number;
  /** The node and the question of its log. */
  readonly teller: string;
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
  return {
    ...budget,
    portions: new Map(budget.portions).set(holder, { granted: used, spent: used }),
  };
};

/** A node tells what it has spent in all of its portion. Less than before is an old message. */
export const report = (budget: LeasedBudget, node: string, spent: number): LeasedBudget => {
  const held = budget.portions.get(node);
  if (held === undefined || spent <= held.spent) return budget;
  return { ...budget, portions: new Map(budget.portions).set(node, { ...held, spent }) };
};

/** The budget of a file: several nodes spend from it at once (decision 0094). */
export interface AskedShare {
  readonly wished: number;
  readonly spent: number;
  /** The least that a node is granted, and what a portion is a multiple of. */
  readonly step: number;
}

/** A node may have spent all that it was granted, and has spent all that it says. */
const counted = ({ granted, spent }: BudgetPortion): number => Math.max(granted, spent);

const others = ({ portions }: LeasedBudget, holder: string): readonly BudgetPortion[] =>
  [...portions].flatMap(([id, portion]) => (id === holder ? [] : [portion]));

/** All that others have, as it counts, and as they say. */
export const elsewhereOf = (budget: LeasedBudget, holder: string) => {
  const all = others(budget, holder);
  const sum = (one: (portion: BudgetPortion) => number): number =>
    all.reduce((before, portion) => before + one(portion), budget.spent);
  return { counted: sum(counted), told: sum(({ spent }) => spent) };
};

/**
 * The share of a node from then on. It holds at most an equal part of what nobody has spent, with one part more for whoever asks
 * next: so a node that is idle gives back what it does not need, and the last of the budget goes to the one who spends.
 */
export const share = (
  budget: LeasedBudget,
  holder: string,
  { wished, spent, step }: AskedShare,
): LeasedBudget => {
  const used = Math.max(spent, budget.portions.get(holder)?.spent ?? 0);
  const elsewhere = elsewhereOf(budget, holder);
  const open = others(budget, holder).filter(({ isClosed }) => isClosed !== true).length;
  const rest = Math.max(0, budget.limit - elsewhere.told - used);
  const part = Math.max(step, exact(Math.floor(rest / (open + 2) / step) * step));
  const granted = Math.max(0, Math.min(wished, exact(used + part), exact(budget.limit - elsewhere.counted)));
  return { ...budget, portions: new Map(budget.portions).set(holder, { granted, spent: used }) };
};

/** Sums of binary fractions drift. */
const exact = (value: number): number => Math.round(value * 1e9) / 1e9;

/** A node spends no more of its share, and needs no part of what is left. */
export const closed = (budget: LeasedBudget, holder: string, spent: number): LeasedBudget => {
  const { portions, ...settled } = settle(budget, holder, spent);
  const held = portions.get(holder);
  return held === undefined
    ? budget
    : { ...settled, portions: new Map(portions).set(holder, { ...held, isClosed: true }) };
};

/** The file says another bound. A person may have granted more than the one before, and that stays. */
export const declared = (budget: LeasedBudget, own: number): LeasedBudget => {
  const isRaised = budget.limit > (budget.own ?? budget.limit);
  return { ...budget, own, limit: isRaised ? Math.max(budget.limit, own) : own };
};

export const isFound = ({ limit, found_at }: LeasedBudget): boolean =>
  found_at !== undefined && limit <= found_at;

export const isStopped = ({ limit, stopped_at }: LeasedBudget): boolean =>
  stopped_at !== undefined && limit <= stopped_at;
