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
  readonly notice?: BudgetNotice | undefined;
}

export interface BudgetPortion {
  readonly granted: number;
  /** As the node has told. */
  readonly spent: number;
  /** It was given back. */
  readonly isClosed?: true;
}

/** The notification of a budget that was found spent. */
interface BudgetNotice {
  /** The limit that was spent. */
  readonly at: number;
  /** The node that tells, and the question of its log. */
  readonly by: string;
  readonly isSent?: boolean;
}

/** Whether a teller shall tell. "unfound": the budget may not be spent. "unknown": nobody knows of it here. */
export interface Telling {
  readonly telling: "yours" | "others" | "sent" | "unfound" | "unknown";
  /** Another one that tells. */
  readonly by?: string | undefined;
}

/** A spent budget of a file, about which each worker asks in its own log. */
export interface SharedQuestion {
  readonly shared_id: string;
  /** The bound that is spent. */
  readonly limit: string;
  /** The node and the question of its log. */
  readonly teller: string;
  /** Another teller, which did not send it in time. */
  readonly over?: string | undefined;
  /** The teller has sent it. */
  readonly isSent?: boolean | undefined;
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
  const limit = isRaised ? Math.max(budget.limit, own) : own;
  // Each limit has a notification of its own, also one that was there before.
  return { ...budget, own, limit, notice: limit === budget.limit ? budget.notice : undefined };
};

export const isFound = ({ limit, found_at }: LeasedBudget): boolean =>
  found_at !== undefined && limit <= found_at;

export const isStopped = ({ limit, stopped_at }: LeasedBudget): boolean =>
  stopped_at !== undefined && limit <= stopped_at;

/** A spent budget has many workers that ask, and one of them tells. */
export const tellingOf = (
  budget: LeasedBudget,
  { teller, over, isSent = false }: Pick<SharedQuestion, "teller" | "over" | "isSent">,
): Telling & { readonly budget: LeasedBudget } => {
  if (!isFound(budget)) return { telling: "unfound", budget };
  const notice = budget.notice?.at === budget.limit ? budget.notice : undefined;
  const isFree = notice === undefined || (notice.by === over && notice.isSent !== true);
  if (!isFree && notice.by !== teller)
    return { telling: notice.isSent === true ? "sent" : "others", by: notice.by, budget };
  // A look that changes nothing writes nothing.
  if (!isFree && (notice.isSent === true || !isSent)) return { telling: "yours", budget };
  const mine: BudgetNotice = { at: budget.limit, by: teller, ...(isSent && { isSent }) };
  return { telling: "yours", budget: { ...budget, notice: mine } };
};
