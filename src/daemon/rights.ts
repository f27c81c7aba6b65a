/** The rights of this machine, as a node of a cluster, to run workers now (decision 0082). */
import type { Leases } from "../actors/ports.ts";

interface Right {
  readonly term: number;
  readonly mayStart: () => boolean;
}

export class Rights implements Leases {
  private readonly held = new Map<string, Right>();

  /** `mayStart` is asked before each start of a process. */
  give(worker: string, right: Right): void {
    this.held.set(worker, right);
  }

  holds({ worker, term }: { readonly worker: string; readonly term: number }): boolean {
    const right = this.held.get(worker);
    return right?.term === term && right.mayStart();
  }
}
