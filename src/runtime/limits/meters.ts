/**
 * The spending of the workers of one account, each and together: as their records say, and kept up with what is recorded since.
 * For those that have ended only the sum is kept: a supervisor may have had a million.
 */

import { spendingIn } from "../../actors/intake/ingest.ts";
import type { Usage } from "../../protocol/records.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Views, WorkerRow } from "../../store/views.ts";
import {
  added,
  grown,
  moved,
  NOTHING_SPENT,
  NOTHING_UNFINISHED,
  ofUnfinished,
  ofUsage,
  type SpentAmounts,
  type UnfinishedUsage,
  withUnfinished,
} from "../../supervisor/budgets/budgets.ts";

interface Meter {
  /** All of it. */
  spent: SpentAmounts;
  /** Sums that are on record for good: completed turns, restarts, output, time. */
  settled: SpentAmounts;
  /** Told by turns that ended with their incarnation before they were completed. */
  lost: UnfinishedUsage;
  /** Told by the turn that is open. Its end takes its place. */
  open: UnfinishedUsage;
  /** Bytes of output: what earlier incarnations wrote, and which one writes now. */
  incarnation: number;
  before_bytes: number;
  /** Turns without a price: its dollars are not all known. */
  unpriced: boolean;
  /** Some dollars of its completed turns are an estimate. */
  estimated: boolean;
}

export class Meters {
  sum: SpentAmounts = NOTHING_SPENT;
  private readonly meters = new Map<string, Meter>();
  private readonly log: EventLog;
  private readonly views: Views;
  /** The sum of those that are not kept any more. */
  private wasUnpriced = false;
  private wasEstimated = false;

  /** `past`: all that may have spent something before. A worker that comes later with a past has been counted here. */
  constructor(log: EventLog, views: Views, past: readonly string[]) {
    this.log = log;
    this.views = views;
    for (const id of past) {
      const { spent } = this.meter(id);
      this.sum = moved(this.sum, NOTHING_SPENT, spent);
    }
  }

  /** Those that may spend more; others for as long as nobody has looked. */
  ids(): readonly string[] {
    return [...this.meters.keys()];
  }

  /** A worker that has ended is only in the sum. If it is started again by name, its share is read from its records before it spends more. */
  letGo(isLive: (id: string) => boolean): void {
    for (const [id, meter] of this.meters) {
      if (isLive(id)) continue;
      const row = this.views.worker(id);
      if (row !== undefined && !isEnded(row.state)) continue;
      this.wasUnpriced ||= meter.unpriced;
      this.wasEstimated ||= isEstimate(meter);
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
    for (const meter of this.meters.values()) if (isEstimate(meter)) return true;
    return false;
  }

  /** Turns and their usage, and restarts. */
  counted(row: WorkerRow, open?: Usage): void {
    const { id, turns, usage, restarts } = row;
    const meter = this.meter(id);
    priced(meter, row);
    if (open !== undefined || turns > meter.settled.turns) meter.open = ofUnfinished(open);
    this.grow(meter, { ...ofUsage(turns, usage), restarts });
  }

  /** Over all incarnations. */
  ran(id: string, wall_ms: number): void {
    this.grow(this.meter(id), { wall_ms });
  }

  /** In this incarnation, so far; `open`: what its open turn has used, where there is something new to say of it. */
  wrote(id: string, incarnation: number, bytes: number, open?: Usage): void {
    const meter = this.meter(id);
    if (incarnation !== meter.incarnation) {
      meter.incarnation = incarnation;
      meter.before_bytes = meter.settled.output_bytes;
      meter.lost = added(meter.lost, meter.open);
      meter.open = NOTHING_UNFINISHED;
    }
    if (open !== undefined) meter.open = ofUnfinished(open);
    this.grow(meter, { output_bytes: meter.before_bytes + bytes });
  }

  private grow(meter: Meter, now: Partial<SpentAmounts>): void {
    meter.settled = grown(meter.settled, now);
    const after = whole(meter);
    this.sum = moved(this.sum, meter.spent, after);
    meter.spent = after;
  }

  private meter(id: string): Meter {
    const known = this.meters.get(id);
    if (known !== undefined) return known;
    const meter: Meter = {
      spent: NOTHING_SPENT,
      settled: NOTHING_SPENT,
      lost: NOTHING_UNFINISHED,
      open: NOTHING_UNFINISHED,
      incarnation: 0,
      before_bytes: 0,
      unpriced: false,
      estimated: false,
    };
    this.meters.set(id, meter);
    const row = this.views.worker(id);
    if (row !== undefined && row.incarnation > 0) this.remember(meter, row);
    return meter;
  }

  /** Into the meter alone. */
  private remember(meter: Meter, row: WorkerRow): void {
    const { id, incarnation, turns, usage, restarts } = row;
    let wall_ms = 0;
    for (const record of this.log.stream(id, ["worker_exited"])) {
      if (record.type !== "worker_exited") continue;
      const { duration_ms, paused_ms = 0, output_bytes = 0, unfinished } = record.payload;
      meter.lost = added(meter.lost, ofUnfinished(unfinished));
      wall_ms += Math.max(0, duration_ms - paused_ms);
      meter.before_bytes += output_bytes;
    }
    const checkpoints = this.log.checkpoints(id, incarnation);
    meter.open = ofUnfinished(spendingIn(checkpoints));
    const running = checkpoints.reduce((sum, { offset }) => sum + offset, 0);
    // A worker that has ended has nothing left to read: its next incarnation counts from here.
    meter.incarnation = running > 0 ? incarnation : 0;
    priced(meter, row);
    const output_bytes = meter.before_bytes + running;
    meter.settled = grown(NOTHING_SPENT, { ...ofUsage(turns, usage), restarts, wall_ms, output_bytes });
    meter.spent = whole(meter);
  }
}

const unfinishedOf = ({ lost, open }: Meter): UnfinishedUsage => added(lost, open);
const whole = (meter: Meter): SpentAmounts => withUnfinished(meter.settled, unfinishedOf(meter));
const isEstimate = (meter: Meter): boolean => meter.estimated || unfinishedOf(meter).estimated;

const priced = (meter: Meter, { unpriced_turns, usage }: WorkerRow): void => {
  meter.unpriced = unpriced_turns > 0;
  meter.estimated = usage.estimated_usd !== undefined;
};
