/** A cluster's store in memory, for its contract: what Postgres must do, each call at once. */
import { CLUSTER_STREAM_PAGE_RECORDS } from "../../../src/base/limits.ts";
import type { LeasedBudget } from "../../../src/cluster/budgets.ts";
import { RightOverError } from "../../../src/cluster/errors.ts";
import type {
  ClusterView,
  HeldRight,
  NewNode,
  NewPlacement,
  NodeFence,
  RunFence,
} from "../../../src/cluster/rows.ts";
import type { ClusterStore, CopiedRecord, LogName, StreamPage } from "../../../src/cluster/store.ts";
import { MemoryRows } from "./memory-rows.ts";

interface StoredRecord extends CopiedRecord {
  readonly isLate: boolean;
}

export class MemoryStore implements ClusterStore {
  private readonly rows = new MemoryRows();
  private readonly logs = new Map<string, number>();
  private readonly records: StoredRecord[] = [];
  private readonly budgets = new Map<string, LeasedBudget>();

  async join(node: NewNode, session: string): Promise<number | undefined> {
    return this.rows.join(node, session);
  }
  async renew(fence: NodeFence): Promise<boolean> {
    return this.rows.renew(fence);
  }
  async drain(node: string, isDraining: boolean): Promise<boolean> {
    return this.rows.drain(node, isDraining);
  }
  async leave(fence: NodeFence): Promise<boolean> {
    return this.rows.leave(fence);
  }
  async bury(node: string, term: number, beat: number): Promise<boolean> {
    return this.rows.bury(node, term, beat);
  }
  async declareGone(node: string): Promise<boolean> {
    return this.rows.declareGone(node);
  }
  async view(node: string): Promise<ClusterView> {
    return this.rows.view(node);
  }
  async place(placement: NewPlacement): Promise<boolean> {
    return this.rows.place(placement);
  }
  async claim(worker: string, seen_term: number, to: NodeFence): Promise<boolean> {
    return this.rows.claim(worker, seen_term, to);
  }
  async adopt(run: RunFence): Promise<boolean> {
    return this.rows.adopt(run);
  }
  async release(run: RunFence, seen_starts: number): Promise<boolean> {
    return this.rows.release(run, seen_starts);
  }
  async begin(run: RunFence): Promise<boolean> {
    return this.rows.begin(run);
  }
  async end(run: RunFence): Promise<boolean> {
    return this.rows.end(run);
  }
  async kill(worker: string): Promise<void> {
    this.rows.kill(worker);
  }

  async append(
    node: string,
    { store_id, epoch }: LogName,
    records: readonly CopiedRecord[],
  ): Promise<number> {
    const name = `${store_id}:${epoch}`;
    const before = this.logs.get(name) ?? 0;
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined || first.seq > before + 1) return before;
    for (const record of records) {
      if (record.seq <= before) continue;
      this.records.push({ ...record, isLate: record.run !== null && !this.rows.isCurrent(node, record.run) });
    }
    this.logs.set(name, Math.max(before, last.seq));
    return this.logs.get(name) as number;
  }

  async stream(worker: string, after: number): Promise<StreamPage> {
    const places = this.records
      .map((record, at) => ({ record, place: at + 1 }))
      .filter(({ record, place }) => record.run?.worker === worker && !record.isLate && place > after);
    const page = places.slice(0, CLUSTER_STREAM_PAGE_RECORDS);
    return {
      records: page.map(({ record: { seq, run, text } }) => ({ seq, run, text })),
      next: page.length < CLUSTER_STREAM_PAGE_RECORDS ? null : (page.at(-1)?.place ?? null),
    };
  }

  async withBudget<Result>(
    name: string,
    change: (before: LeasedBudget | undefined) => {
      readonly after?: LeasedBudget | undefined;
      readonly result: Result;
    },
    right?: HeldRight,
  ): Promise<Result> {
    const row = right && this.rows.placements.get(right.worker);
    if (right !== undefined && (row?.term !== right.term || row.node !== right.node))
      throw new RightOverError(right.worker);
    const { after, result } = change(this.budgets.get(name));
    if (after !== undefined) this.budgets.set(name, after);
    return result;
  }
}
