/**
 * Machines whose processes are canaries: an entry in a set, with a guard that ends them where their lease is over, whatever became of
 * their node's fiber. The flock sees when two of one worker sing at once.
 */
import { Clock, Effect, Exit, Schedule, Scope } from "effect";
import { mustStop } from "../../../src/cluster/lease.ts";
import type { KeptMembership, NodeMachine, RunOfMember } from "../../../src/cluster/node/machine.ts";
import { liveAsMember } from "../../../src/cluster/node/membership.ts";
import type { ClusterStore } from "../../../src/cluster/store.ts";

const GUARD_PERIOD_MS = 50;

interface Canary extends RunOfMember {
  readonly node: string;
  readonly end: () => void;
}

export class Flock {
  readonly overlaps: string[] = [];
  readonly starts: { readonly worker: string; readonly node: string; readonly at: number }[] = [];
  readonly singing = new Set<Canary>();

  nodeOf(worker: string): string | undefined {
    return [...this.singing].find((canary) => canary.worker === worker)?.node;
  }

  startsOf(worker: string): number {
    return this.starts.filter((start) => start.worker === worker).length;
  }
}

export class CanaryMachine implements NodeMachine {
  kept: KeptMembership | undefined;
  /** No lease can be kept. */
  isFull = false;
  readonly reports: string[] = [];
  /** Workers that were searched for. */
  readonly searched: string[] = [];
  readonly id: string;
  private readonly flock: Flock;
  private readonly clock: Clock.Clock;
  private readonly offset_ms: number;
  private sessions = 0;

  private constructor(id: string, flock: Flock, clock: Clock.Clock, offset_ms: number) {
    this.id = id;
    this.flock = flock;
    this.clock = clock;
    this.offset_ms = offset_ms;
  }

  static make(id: string, flock: Flock, offset_ms: number): Effect.Effect<CanaryMachine, never, Scope.Scope> {
    return Effect.gen(function* () {
      const machine = new CanaryMachine(id, flock, yield* Clock.Clock, offset_ms);
      const guard = Effect.sync(() => machine.guard());
      yield* Effect.forkScoped(Effect.repeat(guard, Schedule.spaced(GUARD_PERIOD_MS)));
      return machine;
    });
  }

  get found(): readonly RunOfMember[] {
    return this.own();
  }

  now(): number {
    return this.offset_ms + this.clock.currentTimeMillisUnsafe();
  }

  newSession(): string {
    return `${this.id}/${++this.sessions}`;
  }

  keep(kept: KeptMembership): void {
    if (this.isFull) throw new Error("no space left");
    this.kept = kept;
  }

  async sweep(worker: string): Promise<void> {
    this.searched.push(worker);
    this.endAll((canary) => canary.worker === worker);
  }

  launch(run: RunOfMember, mayStart: () => boolean): Promise<void> {
    if (!mayStart()) return Promise.resolve();
    const { worker, term, on_partition } = run;
    for (const other of this.flock.singing)
      if (other.worker === worker)
        this.flock.overlaps.push(
          `${worker} on ${this.id} in term ${term}, and on ${other.node} in ${other.term}`,
        );
    return new Promise((resolve) => {
      const canary: Canary = { worker, term, on_partition, node: this.id, end: resolve };
      this.flock.singing.add(canary);
      this.flock.starts.push({ worker, node: this.id, at: this.clock.currentTimeMillisUnsafe() });
    });
  }

  async ended(run: RunOfMember): Promise<void> {
    const canary = this.own().find(({ worker }) => worker === run.worker);
    if (canary === undefined) return;
    const { end } = canary;
    await new Promise<void>((resolve) => {
      this.flock.singing.delete(canary);
      this.flock.singing.add({
        ...canary,
        end: () => {
          end();
          resolve();
        },
      });
    });
  }

  async stop(worker: string): Promise<void> {
    this.endAll((canary) => canary.worker === worker);
  }

  async stopAll(): Promise<void> {
    this.endAll(({ on_partition }) => on_partition === "stop");
  }

  async copied(): Promise<void> {}

  /** The machine loses its power. */
  switchOff(): void {
    this.endAll(() => true);
    if (this.kept !== undefined) this.kept = { ...this.kept, until_ms: null };
  }

  private own(): readonly Canary[] {
    return [...this.flock.singing].filter(({ node }) => node === this.id);
  }

  private endAll(which: (canary: Canary) => boolean): void {
    for (const canary of this.own().filter(which)) {
      this.flock.singing.delete(canary);
      canary.end();
    }
  }

  private guard(): void {
    const until_ms = this.kept?.until_ms ?? null;
    if (until_ms === null || mustStop(until_ms, this.now())) void this.stopAll();
  }
}

/** The daemon of a machine: its end ends no canary. */
export const startedMember = (machine: CanaryMachine, store: ClusterStore) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make();
    const life = liveAsMember({
      node: { id: machine.id, store_id: machine.id, labels: {}, capacity: 10, endpoint: "" },
      store,
      machine,
      kept: machine.kept,
      found: machine.found,
      report: (what) => void machine.reports.push(what),
    });
    yield* Effect.forkIn(Scope.provide(life, scope), scope);
    return { kill: Scope.close(scope, Exit.void) };
  });
