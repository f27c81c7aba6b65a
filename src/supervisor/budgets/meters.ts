/**
 * What the workers of one account have spent, each and together: as their records say, and kept up with what is recorded since.
 * Of those that have ended only the sum is kept: a supervisor may have had a million.
 */
import { isEnded } from "../../protocol/worker.ts";
import type { EventLog, WorkerRow } from "../../store/port.ts";
import { grown, moved, NOTHING_SPENT, ofUsage, type Spent } from "./budgets.ts";

interface Meter {
  spent: Spent;
  /** Of the output: what earlier incarnations wrote, and which one writes now. */
  incarnation: number;
  before_bytes: number;
  /** Turns without a price: its dollars are not all known. */
  unpriced: boolean;
  /** Some of its dollars are an estimate. */
  estimated: boolean;
}

export class Meters {
  sum: Spent = NOTHING_SPENT;
  private readonly meters = new Map<string, Meter>();
  private readonly log: EventLog;
  /** Of those that are not kept any more. */
  private wasUnpriced = false;
  private wasEstimated = false;

  /** `past`: all that may have spent something before. Who comes later with a past has been counted here. */
  constructor(log: EventLog, past: readonly string[]) {
    this.log = log;
    for (const id of past) {
      const { spent } = this.meter(id);
      this.sum = moved(this.sum, NOTHING_SPENT, spent);
    }
  }

  /** Those that may spend more; others for as long as nobody has looked. */
  ids(): readonly string[] {
    return [...this.meters.keys()];
  }

  /** Whoever has ended is in the sum and nowhere else; started again by name, it is read from its records before it spends more. */
  letGo(isLive: (id: string) => boolean): void {
    for (const [id, { unpriced, estimated }] of this.meters) {
      if (isLive(id)) continue;
      const row = this.log.worker(id);
      if (row !== undefined && !isEnded(row.state)) continue;
      this.wasUnpriced ||= unpriced;
      this.wasEstimated ||= estimated;
      this.meters.delete(id);
    }
  }

  isUnpriced(): boolean {
    if (this.wasUnpriced) return true;
    for (const { unpriced } of this.meters.values()) if (unpriced) return true;
    return false;
  }

  isEstimated(): boolean {
    if (this.wasEstimated) return true;
    for (const { estimated } of this.meters.values()) if (estimated) return true;
    return false;
  }

  /** Turns and their usage, and restarts. */
  counted(row: WorkerRow): void {
    const { id, turns, usage, restarts } = row;
    const meter = this.meter(id);
    priced(meter, row);
    this.grow(meter, { ...ofUsage(turns, usage), restarts });
  }

  /** Over all incarnations. */
  ran(id: string, wall_ms: number): void {
    this.grow(this.meter(id), { wall_ms });
  }

  /** In this incarnation, so far. */
  wrote(id: string, incarnation: number, bytes: number): void {
    const meter = this.meter(id);
    if (incarnation !== meter.incarnation) {
      meter.incarnation = incarnation;
      meter.before_bytes = meter.spent.output_bytes;
    }
    this.grow(meter, { output_bytes: meter.before_bytes + bytes });
  }

  private grow(meter: Meter, now: Partial<Spent>): void {
    const after = grown(meter.spent, now);
    this.sum = moved(this.sum, meter.spent, after);
    meter.spent = after;
  }

  private meter(id: string): Meter {
    const known = this.meters.get(id);
    if (known !== undefined) return known;
    const meter: Meter = {
      spent: NOTHING_SPENT,
      incarnation: 0,
      before_bytes: 0,
      unpriced: false,
      estimated: false,
    };
    this.meters.set(id, meter);
    const row = this.log.worker(id);
    if (row !== undefined && row.incarnation > 0) this.remember(meter, row);
    return meter;
  }

  /** Into the meter alone. */
  private remember(meter: Meter, row: WorkerRow): void {
    const { id, incarnation, turns, usage, restarts } = row;
    let wall_ms = 0;
    for (const record of this.log.stream(id, ["worker_exited"])) {
      if (record.type !== "worker_exited") continue;
      const { duration_ms, paused_ms = 0, output_bytes = 0 } = record.payload;
      wall_ms += Math.max(0, duration_ms - paused_ms);
      meter.before_bytes += output_bytes;
    }
    const running = this.log.checkpoints(id, incarnation).reduce((sum, { offset }) => sum + offset, 0);
    // Of one that has ended nothing is left to read: its next incarnation counts from here.
    meter.incarnation = running > 0 ? incarnation : 0;
    priced(meter, row);
    const output_bytes = meter.before_bytes + running;
    meter.spent = grown(NOTHING_SPENT, { ...ofUsage(turns, usage), restarts, wall_ms, output_bytes });
  }
}

const priced = (meter: Meter, { unpriced_turns, usage }: WorkerRow): void => {
  meter.unpriced = unpriced_turns > 0;
  meter.estimated = usage.estimated_usd !== undefined;
};
