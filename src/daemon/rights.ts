/** The rights of this machine, as a node of a cluster, to run workers now (decision 0082), and to spend from their budgets (0091). */
import type { Budgets, Leases, SessionHolder, SessionOfWorker } from "../actors/ports.ts";
import { HoldfastError } from "../protocol/errors.ts";

interface Right {
  readonly term: number;
  readonly mayStart: () => boolean;
}

export class Rights implements Leases, Budgets {
  private readonly held = new Map<string, Right>();
  private bank: Budgets | undefined;
  /** Undefined while this machine is no node. */
  private sessions: NonNullable<Leases["session"]> | undefined;

  /** The one who knows the sessions of the cluster. */
  askForSessions(sessions: NonNullable<Leases["session"]> | undefined): void {
    this.sessions = sessions;
  }

  async session(asked: SessionOfWorker): Promise<SessionHolder | undefined> {
    return this.sessions?.(asked);
  }

  /** `mayStart` is asked before each start of a process. */
  give(worker: string, right: Right): void {
    this.held.set(worker, right);
  }

  holds({ worker, term }: { readonly worker: string; readonly term: number }): boolean {
    const right = this.held.get(worker);
    return right?.term === term && right.mayStart();
  }

  /** The newest right to a worker; undefined where this daemon never had any. */
  to(worker: string, node: string): { worker: string; node: string; term: number } | undefined {
    const term = this.held.get(worker)?.term;
    return term === undefined ? undefined : { worker, node, term };
  }

  /** Undefined: this daemon is no node now. */
  setBank(bank: Budgets | undefined): void {
    this.bank = bank;
  }

  readonly take: Budgets["take"] = async (asked) => this.asked().take(asked);
  readonly raise: Budgets["raise"] = async (asked) => this.asked().raise(asked);
  readonly settle: Budgets["settle"] = async (asked) => this.asked().settle(asked);
  readonly stop: Budgets["stop"] = async (asked) => this.asked().stop(asked);

  private asked(): Budgets {
    if (this.bank !== undefined) return this.bank;
    throw new HoldfastError("UNAVAILABLE", "The cluster of this worker cannot be asked now.", {
      suggestion: "See what is wrong with: agent cluster status",
    });
  }
}
