/**
 * Finds the budgets that a worker counts in, and the workers that may have spent from one: by who spawned whom, and by the
 * supervisors of files.
 */

import type { BudgetName } from "../../actors/ports.ts";
import type { Budget, OnBreach, WorkerSpec } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Views } from "../../store/views.ts";
import { hasLimits } from "../../supervisor/budgets/budgets.ts";
import type { SupervisorState } from "../../supervisor/tree/state.ts";
import { withDescendants } from "../descendants.ts";
import { pathsBelow } from "../fold.ts";

/** A supervisor of a file, and its tree. */
export interface GuardedSupervisor {
  readonly tree: string;
  readonly state: SupervisorState;
}

export interface Owner {
  /** The id of a worker, or the path of a supervisor. */
  readonly id: string;
  /** The tree of a supervisor; null for a worker. */
  readonly tree: string | null;
  readonly budget: Budget;
  readonly on_breach: OnBreach;
  /** The cluster has the sum of its budget. */
  readonly leased?: BudgetName | undefined;
  /** A placed worker of a file: the budget is that of the file's tree, which this machine may not have. */
  readonly member?: string | undefined;
}

export const keyOf = ({ id, tree, member = "" }: Pick<Owner, "id" | "tree" | "member">): string =>
  `${tree ?? ""} ${id} ${member}`;

/** The worker whose stream has the questions about the budget, where no tree has them. */
export const askerOf = ({ id, member }: Pick<Owner, "id" | "member">): string => member ?? id;

type OwnerSpec = Pick<WorkerSpec, "parent" | "supervisor" | "budget" | "on_breach" | "name" | "placed">;

/** A worker that a placed one has spawned has its right, too, and a budget of its own machine. */
const ownOf = (id: string, { name, placed, budget, on_breach }: OwnerSpec): readonly Owner[] => {
  const right = placed?.worker === name ? placed : undefined;
  const leased = right && { worker: right.worker };
  const tree = right?.tree;
  return [
    ...(hasLimits(budget) ? [{ id, tree: null, budget, on_breach, leased }] : []),
    ...(tree === undefined
      ? []
      : [
          {
            id: tree.name,
            tree: null,
            budget: tree.budget,
            on_breach: tree.on_breach,
            leased: { tree: tree.name },
            member: id,
          },
        ]),
  ];
};

export class Owners {
  private readonly log: EventLog;
  private readonly views: Views;
  private readonly live: () => ReadonlyMap<string, { readonly spec: WorkerSpec }>;
  private find: (path: string) => GuardedSupervisor | undefined = () => undefined;
  /** Specs of ended workers with descendants, read since the last tick. */
  private readonly ended = new Map<string, OwnerSpec>();

  constructor(log: EventLog, views: Views, live: () => ReadonlyMap<string, { readonly spec: WorkerSpec }>) {
    this.log = log;
    this.views = views;
    this.live = live;
  }

  /** Sets the search for a supervisor by its path, because trees are made later. */
  plant(find: (path: string) => GuardedSupervisor | undefined): void {
    this.find = find;
  }

  isSupervisor(ref: string): boolean {
    return this.find(ref) !== undefined;
  }

  /** Forgets what was read about ended workers, on the tick. */
  freshen(): void {
    this.ended.clear();
  }

  /**
   * Every budget that a worker counts in, nearest first: its own, those of its ancestors, and those of their supervisors.
   */
  of(id: string): readonly Owner[] {
    const found = new Map<string, Owner>();
    const seen = new Set<string>();
    for (let at: string | undefined = id; at !== undefined && !seen.has(at); ) {
      seen.add(at);
      const kin = this.kinOf(at);
      if (kin === undefined) break;
      for (const owner of [...ownOf(at, kin), ...this.above(kin.supervisor)]) found.set(keyOf(owner), owner);
      at = kin.parent;
    }
    return [...found.values()];
  }

  /** The budget of a supervisor itself; empty if it has none. */
  at(path: string): readonly Owner[] {
    return this.above(path).filter(({ id }) => id === path);
  }

  /** All workers on record that may have spent from this budget, ended ones included. */
  past({ id, tree, member }: Owner): readonly string[] {
    return withDescendants(this.views, tree === null ? [askerOf({ id, member })] : this.members(tree, id));
  }

  private members(tree: string, path: string): readonly string[] {
    const { since, paths } = pathsBelow(this.log, tree, path);
    return this.views.workersUnder([...paths]).flatMap((row) => (row.created_at >= since ? [row.id] : []));
  }

  private above(path: string): readonly Owner[] {
    const found: Owner[] = [];
    for (let at: string | null = path; at !== null; ) {
      const guarded: GuardedSupervisor | undefined = this.find(at);
      if (guarded === undefined) break;
      const { config, parent } = guarded.state;
      const { budget, on_breach = "ask", budget_of_cluster } = config;
      const leased = budget_of_cluster === true && parent === null ? { tree: guarded.tree } : undefined;
      if (hasLimits(budget)) found.push({ id: at, tree: guarded.tree, budget, on_breach, leased });
      at = parent;
    }
    return found;
  }

  private kinOf(id: string): OwnerSpec | undefined {
    const spec = this.live().get(id)?.spec;
    if (spec !== undefined) return spec;
    const known = this.ended.get(id) ?? this.views.worker(id)?.spec;
    if (known === undefined) return undefined;
    const { parent, supervisor, budget, on_breach, name, placed } = known;
    const kin = { parent, supervisor, budget, on_breach, name, placed };
    this.ended.set(id, kin);
    return kin;
  }
}
