/**
 * The budgets of placed workers (decision 0091) and of files with placed workers (0094) as rows of the cluster, one for each bound: all
 * machines take their portions from these.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AskedPortion, BudgetName, Budgets, GrantedPortion } from "../../actors/ports.ts";
import { CLUSTER_ANSWER_MS, CLUSTER_DECISION_MS, CLUSTER_RETRY_MS } from "../../base/limits.ts";
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
  type SharedQuestion,
  settle,
  share,
  type Telling,
  tellingOf,
} from "../../cluster/budgets.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { HeldRight } from "../../cluster/rows.ts";
import type { ClusterStore } from "../../cluster/store.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { Budget } from "../../protocol/worker.ts";
import type { Rights } from "../rights.ts";

type BudgetStore = Pick<ClusterStore, "withBudget">;
type BoundName = keyof Budget;

/** No name of a worker ends in a slash, so a tree and a worker of one name have rows of their own. */
export const rowsOf = (name: BudgetName): string => ("tree" in name ? `${name.tree}/` : name.worker);

/** Dollars are divided; the others are whole. */
const stepOf = (field: BoundName): number => (field === "usd" ? 1e-9 : 1);

/** The right by which this node runs a worker. */
type RightTo = (worker: string) => HeldRight | undefined;

interface TakenOfBound {
  readonly limits: number;
  readonly granted: number;
  readonly elsewhere: number;
  readonly told: number;
  readonly key?: string | undefined;
  readonly isFound: boolean;
  readonly isStopped: boolean;
}

type KnownChange = (known: LeasedBudget, field: BoundName) => LeasedBudget;

interface ChangedBound<Result> {
  readonly after?: LeasedBudget | undefined;
  readonly result: Result;
}

export class PlacedBudgets implements Budgets {
  private readonly store: BudgetStore;
  private readonly rightTo: RightTo;

  constructor(store: BudgetStore, rightTo: RightTo = () => undefined) {
    this.store = store;
    this.rightTo = rightTo;
  }

  async take(asked: AskedPortion): Promise<GrantedPortion> {
    const isShared = "tree" in asked.name;
    // A portion is for the node that runs the worker now. The spending of any node counts.
    const right = "worker" in asked.name ? this.rightTo(asked.name.worker) : undefined;
    const change = (known: LeasedBudget | undefined, field: BoundName) =>
      isShared ? shared(known, field, asked) : portioned(known, field, asked);
    const taken = await inTime(this.each(asked.name, asked.budget, change, right), CLUSTER_ANSWER_MS);
    const of = (part: "limits" | "granted" | "elsewhere" | "told"): Budget =>
      Object.fromEntries(taken.map(([field, one]) => [field, one[part]]));
    const whole = { limits: of("limits"), granted: of("granted"), elsewhere: of("elsewhere") };
    if (!isShared) return whole;
    const found = taken.flatMap(([field, one]) => (one.isFound ? [field] : []));
    // Nodes may know the bounds in another order.
    const [shared_id] = taken.flatMap(([, { key = [] }]) => key).sort();
    return {
      ...whole,
      told: of("told"),
      found,
      isStopped: taken.some(([, one]) => one.isStopped),
      shared_id,
    };
  }

  async raise({ name, bounds }: Parameters<Budgets["raise"]>[0]): Promise<void> {
    const change = (known: LeasedBudget, field: BoundName) => limited(known, bounds[field]!);
    await this.decide(name, bounds, change);
  }

  async settle({ name, holder, budget, spent }: Parameters<Budgets["settle"]>[0]): Promise<void> {
    const close = "tree" in name ? closed : settle;
    await this.known(name, budget, (known, field) => close(known, holder, spent[field]));
  }

  async stop({ name, bounds }: Parameters<Budgets["stop"]>[0]): Promise<void> {
    const change = (known: LeasedBudget) => ({ ...known, stopped_at: known.limit });
    await this.decide(name, bounds, change);
  }

  /** The file says these bounds now. */
  async declare(tree: string, budget: Budget): Promise<void> {
    const change = (known: LeasedBudget, field: BoundName) => declared(known, budget[field]!);
    await this.decide({ tree }, budget, change);
  }

  /** A decision of a person. It may be carried out twice, so it is tried again where a wait of the database's client was given up. */
  private async decide(name: BudgetName, budget: Budget, change: KnownChange): Promise<void> {
    const deadline = performance.now() + CLUSTER_DECISION_MS;
    const left = (): number => deadline - performance.now();
    for (;;)
      try {
        return await this.known(name, budget, change, left());
      } catch (cause) {
        // All that the system or the database says has a code.
        const { code } = cause as { readonly code?: unknown };
        if (code !== undefined || left() <= CLUSTER_RETRY_MS) throw cause;
        await sleep(CLUSTER_RETRY_MS);
      }
  }

  private async known(
    name: BudgetName,
    budget: Budget,
    change: KnownChange,
    within_ms = CLUSTER_ANSWER_MS,
  ): Promise<void> {
    const changed = (known: LeasedBudget | undefined, field: BoundName) => ({
      after: known && change(known, field),
      result: undefined,
    });
    await inTime(this.each(name, budget, changed), within_ms);
  }

  /** Each bound is a row of its own. One that nobody has taken from is not there. */
  private each<Result>(
    name: BudgetName,
    budget: Budget,
    change: (known: LeasedBudget | undefined, field: BoundName) => ChangedBound<Result>,
    right?: HeldRight,
  ): Promise<readonly (readonly [BoundName, Result])[]> {
    const fields = Object.keys(budget) as BoundName[];
    const changed = fields.map(async (field) => {
      const result = await this.store.withBudget(
        `${rowsOf(name)}/${field}`,
        (known) => change(known, field),
        right,
      );
      return [field, result] as const;
    });
    return Promise.all(changed);
  }
}

/** Those of a node, which takes portions by its rights alone. */
export const budgetsOf = (node: string, store: BudgetStore, rights: Pick<Rights, "to">): Budgets =>
  new PlacedBudgets(store, (worker) => rights.to(worker, node));

/** Whether `teller` tells of the question, which it has in its log. */
export const tellingOfBudget = async (
  store: BudgetStore & Pick<PostgresStore, "sharedRows">,
  { shared_id, limit, ...asked }: SharedQuestion,
): Promise<Telling> => {
  const rows = await store.sharedRows(shared_id);
  if (rows === undefined) return { telling: "unknown" };
  return store.withBudget<Telling>(`${rows}${limit}`, (known) => {
    if (known === undefined) return { result: { telling: "unknown" } };
    const { budget, ...result } = tellingOf(known, asked);
    return { after: budget.notice === known.notice ? undefined : budget, result };
  });
};

const fresh = (limit: number): LeasedBudget => ({ limit, portions: new Map(), spent: 0 });

const portioned = (
  known: LeasedBudget | undefined,
  field: BoundName,
  { holder, budget, wished, spent }: AskedPortion,
): ChangedBound<TakenOfBound> => {
  const before = known ?? fresh(budget[field]!);
  const has = before.portions.get(holder)?.granted ?? 0;
  const more = Math.max(0, (wished[field] ?? 0) - has);
  const { budget: after } = grant(report(before, holder, spent[field]), holder, more);
  const granted = after.portions.get(holder)?.granted ?? 0;
  const elsewhere = after.limit - leftOf(after) - granted;
  const result = {
    limits: after.limit,
    granted,
    elsewhere,
    told: elsewhere,
    isFound: false,
    isStopped: false,
  };
  return { after, result };
};

const shared = (
  known: LeasedBudget | undefined,
  field: BoundName,
  { holder, budget, wished, spent, found = [] }: AskedPortion,
): ChangedBound<TakenOfBound> => {
  const row = known ?? { ...fresh(budget[field]!), own: budget[field]! };
  // A node of an older Holdfast gives none.
  const before = { ...row, key: row.key ?? newId(Date.now()) };
  const asked = { wished: wished[field] ?? 0, spent: spent[field], step: stepOf(field) };
  const taken = share(before, holder, asked);
  // It was found spent at the limit that the node knew: a higher one is another.
  const isNews = found.includes(field) && before.limit <= budget[field]!;
  const after = isNews ? { ...taken, found_at: before.limit } : taken;
  const { counted, told } = elsewhereOf(after, holder);
  const granted = after.portions.get(holder)?.granted ?? 0;
  return {
    after: isAlike(known, after, holder) ? undefined : after,
    result: {
      limits: after.limit,
      granted,
      elsewhere: counted,
      told,
      key: after.key,
      isFound: isFound(after),
      isStopped: isStopped(after),
    },
  };
};

/** A look that changes nothing writes nothing. */
const isAlike = (before: LeasedBudget | undefined, after: LeasedBudget, holder: string): boolean => {
  const [had, has] = [before?.portions.get(holder), after.portions.get(holder)];
  return (
    had?.granted === has?.granted &&
    had?.spent === has?.spent &&
    had?.isClosed === has?.isClosed &&
    before?.found_at === after.found_at &&
    before?.key === after.key
  );
};

const inTime = <Result>(answer: Promise<Result>, within_ms: number): Promise<Result> => {
  const late = Promise.withResolvers<Result>();
  const timer = setTimeout(
    () => late.reject(new HoldfastError("UNAVAILABLE", "The database of the cluster gave no answer.")),
    within_ms,
  );
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
};
