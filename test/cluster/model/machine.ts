/**
 * A machine of the model: its clock, its processes, and a guard, which ends what has no lease while the daemon is frozen or dead.
 * A process may leave a child behind that only a search finds.
 */
import { CLUSTER_STOP_ROOM_MS } from "../../../src/base/limits.ts";
import { type KeptLease, mustStop } from "../../../src/cluster/lease.ts";
import type { MemberRun } from "../../../src/cluster/member.ts";
import type { PartitionPolicy } from "../../../src/cluster/rows.ts";
import type { Random } from "../../sim/random.ts";
import type { ModelClock } from "./clock.ts";
import type { Mistake } from "./mistakes.ts";

export interface ModelProcess {
  readonly worker: string;
  readonly term: number;
  readonly on_partition: PartitionPolicy;
  readonly isChild: boolean;
}

const GUARD_PERIOD_MS = 50;
/** The longest stop with its search. */
const STOP_MAX_MS = CLUSTER_STOP_ROOM_MS - 300;

export interface ModelWorld {
  readonly clock: ModelClock;
  readonly random: Random;
  readonly mistake: Mistake | undefined;
  /** No message and no transaction is slow. */
  readonly isCalm: boolean;
  started(machine: ModelMachine, process: ModelProcess): void;
  ended(machine: ModelMachine, process: ModelProcess): void;
}

export class ModelMachine {
  readonly processes = new Set<ModelProcess>();
  /** On disk: the node's term, and the moment by which its runs must have ended. */
  kept: KeptLease = { term: 0, until_ms: null };
  isOn = true;
  /** Tells the daemon, if there is one. */
  onEnd: (process: ModelProcess) => void = () => {};
  private readonly world: ModelWorld;
  private readonly offset_ms: number;
  private readonly rate: number;

  constructor(world: ModelWorld) {
    this.world = world;
    this.offset_ms = (world.random.below(3) - 1) * 3_600_000;
    this.rate = 0.98 + world.random.next() * 0.04;
    this.guard();
  }

  now(): number {
    return this.offset_ms + this.world.clock.now * this.rate;
  }

  /** False where the lease is over in the instant of the start. */
  start(run: Pick<MemberRun, "worker" | "term" | "on_partition">): boolean {
    if (this.isOver() && run.on_partition === "stop" && this.world.mistake !== "stale_start") return false;
    const { worker, term, on_partition } = run;
    const process = { worker, term, on_partition, isChild: false };
    this.add(process);
    if (this.world.random.chance(0.3)) this.add({ ...process, isChild: true });
    return true;
  }

  /** The main process alone: what it left behind needs a search. */
  exit(worker: string): void {
    for (const process of [...this.processes])
      if (process.worker === worker && !process.isChild) this.remove(process);
  }

  /** The stop ladder with its search. */
  stop(which: (process: ModelProcess) => boolean, done: () => void): void {
    this.world.clock.after(this.world.random.below(STOP_MAX_MS), () => {
      this.sweep(which);
      done();
    });
  }

  sweep(which: (process: ModelProcess) => boolean): void {
    for (const process of [...this.processes]) if (which(process)) this.remove(process);
  }

  switchOff(): void {
    this.isOn = false;
    this.onEnd = () => {};
    this.sweep(() => true);
    // Its clock begins anew with the next boot, so no moment of this one counts.
    this.kept = { ...this.kept, until_ms: null };
  }

  private isOver(): boolean {
    return this.kept.until_ms === null || mustStop(this.kept.until_ms, this.now());
  }

  private add(process: ModelProcess): void {
    this.world.started(this, process);
    this.processes.add(process);
  }

  private remove(process: ModelProcess): void {
    if (!this.processes.delete(process)) return;
    this.world.ended(this, process);
    if (!process.isChild) this.onEnd(process);
  }

  private guard(): void {
    let isStopping = false;
    const look = (): void => {
      this.world.clock.after(GUARD_PERIOD_MS, look);
      if (!this.isOver() || isStopping || this.world.mistake === "no_guard") return;
      const stops = ({ on_partition }: ModelProcess): boolean => on_partition === "stop";
      if (![...this.processes].some(stops)) return;
      isStopping = true;
      this.stop(stops, () => {
        isStopping = false;
      });
    };
    look();
  }
}
