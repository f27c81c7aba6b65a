/** Whose budgets a worker counts in, and who may have spent of one before: by who asked for whom, and by the supervisors of files. */

import type { Budget, OnBreach, WorkerSpec } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Views } from "../../store/views.ts";
import { hasLimits } from "../../supervisor/budgets/budgets.ts";
import type { SupervisorState } from "../../supervisor/tree/state.ts";
import { withDescendants } from "../descendants.ts";
import { pathsBelow } from "../fold.ts";

/** A supervisor of a file, and the tree that it stands in. */
export interface GuardedSupervisor {
  readonly tree: string;
  readonly state: SupervisorState;
}

export interface Owner {
  /** Id of a worker, or path of a supervisor. */
  readonly id: string;
  /** The tree of a supervisor; null for a worker. */
  readonly tree: string | null;
  readonly budget: Budget;
  readonly on_breach: OnBreach;
}

export const keyOf = ({ id, tree }: Pick<Owner, "id" | "tree">): string => `${tree ?? ""} ${id}`;

type OwnerSpec = Pick<WorkerSpec, "parent" | "supervisor" | "budget" | "on_breach">;

export class Owners {
  private readonly log: EventLog;
  private readonly views: Views;
  private readonly live: () => ReadonlyMap<string, { readonly spec: WorkerSpec }>;
  private find: (path: string) => GuardedSupervisor | undefined = () => undefined;
  /** Ids of workers that have ended and have descendants, since the last tick. */
  private readonly ended = new Map<string, OwnerSpec>();

  constructor(log: EventLog, views: Views, live: () => ReadonlyMap<string, { readonly spec: WorkerSpec }>) {
    this.log = log;
    this.views = views;
    this.live = live;
  }

  /** Trees are made after this. */
  plant(find: (path: string) => GuardedSupervisor | undefined): void {
    this.find = find;
  }

  isSupervisor(ref: string): boolean {
    return this.find(ref) !== undefined;
  }

  /** On the tick: what was read of workers that have ended is not kept for ever. */
  freshen(): void {
    this.ended.clear();
  }

  /** Every budget that a worker counts in: its own, those of who asked for it, and of their supervisors. Nearest first. */
  of(id: string): readonly Owner[] {
    const found = new Map<string, Owner>();
    const seen = new Set<string>();
    for (let at: string | undefined = id; at !== undefined && !seen.has(at); ) {
      seen.add(at);
      const kin = this.kinOf(at);
      if (kin === undefined) break;
      const { budget, on_breach, supervisor } = kin;
      const own = { id: at, tree: null, budget, on_breach };
      for (const owner of [...(hasLimits(budget) ? [own] : []), ...this.above(supervisor)])
        found.set(keyOf(owner), owner);
      at = kin.parent;
    }
    return [...found.values()];
  }

  /** The supervisor itself, where it has a budget. */
  at(path: string): readonly Owner[] {
    return this.above(path).filter(({ id }) => id === path);
  }

  /** Workers that may have spent something of it before: those on record, whatever became of them. */
  past({ id, tree }: Owner): readonly string[] {
    return withDescendants(this.views, tree === null ? [id] : this.members(tree, id));
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
      const { budget, on_breach = "ask" } = config;
      if (hasLimits(budget)) found.push({ id: at, tree: guarded.tree, budget, on_breach });
      at = parent;
    }
    return found;
  }

  private kinOf(id: string): OwnerSpec | undefined {
    const spec = this.live().get(id)?.spec;
    if (spec !== undefined) return spec;
    const known = this.ended.get(id) ?? this.views.worker(id)?.spec;
    if (known === undefined) return undefined;
    const { parent, supervisor, budget, on_breach } = known;
    const kin = { parent, supervisor, budget, on_breach };
    this.ended.set(id, kin);
    return kin;
  }
}
