/**
 * The tombstones that a node has obeyed, and those that a kill here follows. A kill that came twice would end the grace of its first
 * signal, as a second one of a person does.
 */
import type { Killer } from "../../cluster/rows.ts";

/** A worker of this node with a tombstone. */
export interface Tombstone {
  readonly worker: string;
  readonly term: number;
  readonly killer: Killer | null;
}

interface ObeyedTerm {
  readonly term: number;
  readonly again: boolean;
}

export class ObeyedTombstones {
  private readonly obeyed = new Map<string, ObeyedTerm>();
  /** Until when the kill of a worker is expected. */
  private readonly expected = new Map<string, number>();

  /** False where the node has killed the worker for it already. */
  isNew({ worker, term, killer }: Tombstone): boolean {
    const last = this.obeyed.get(worker);
    return last?.term !== term || (killer?.again === true && !last.again);
  }

  obey({ worker, term, killer }: Tombstone): void {
    this.obeyed.set(worker, { term, again: killer?.again === true });
  }

  /** A person kills the worker on this node, and the tombstone comes first. */
  expectKill(worker: string, until_ms: number): void {
    this.expected.set(worker, until_ms);
  }

  isExpected({ worker, killer }: Tombstone, now_ms: number): boolean {
    return killer?.again !== true && now_ms < (this.expected.get(worker) ?? Number.NEGATIVE_INFINITY);
  }

  forget(worker: string): void {
    this.obeyed.delete(worker);
    this.expected.delete(worker);
  }
}
