/**
 * The spending of one account's workers, each and in sum: first from the records, then kept up to date. Only the sum is
 * kept for ended workers: a supervisor may have had a million.
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
  /** Everything spent. */
  spent: SpentAmounts;
  /** Final sums on record: completed turns, restarts, output, time. */
  settled: SpentAmounts;
  /** Usage of turns whose incarnation ended before they were completed. */
  lost: UnfinishedUsage;
  /** Usage of the open turn so far. The turn's end replaces it. */
  open: UnfinishedUsage;
  /** The incarnation that writes now, and the output bytes of earlier ones. */
  incarnation: number;
  before_bytes: number;
  /** True if some turns have no price: not all dollars are known. */
  unpriced: boolean;
  /** True if some dollars of completed turns are estimates. */
  estimated: boolean;
}

export class Meters {
  sum: SpentAmounts = NOTHING_SPENT;
  private readonly meters = new Map<string, Meter>();
  private readonly log: EventLog;
  private readonly views: Views;
  /** True if it held for a worker whose meter was dropped. */
  private wasUnpriced = false;
  private wasEstimated = false;

  /**
   * `past`: all workers that may have spent before. Their spending is counted here, so none of it counts again if one comes
   * back.
   */
  constructor(log: EventLog, views: Views, past: readonly string[]) {
    this.log = log;
    this.views = views;
    for (const id of past) {
      const { spent } = this.meter(id);
      this.sum = moved(this.sum, NOTHING_SPENT, spent);
    }
  }

  /** Ids of workers that may spend more. An ended one stays until the next `letGo`. */
  ids(): readonly string[] {
    return [...this.meters.keys()];
  }

  /**
   * Drops the meters of ended workers, which stay in the sum. If one is started again by name, its share is read from its
   * records before it spends more.
   */
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

  /** Counts turns, their usage and restarts. */
  counted(row: WorkerRow, open?: Usage): void {
    const { id, turns, usage, restarts } = row;
    const meter = this.meter(id);
    priced(meter, row);
    if (open !== undefined || turns > meter.settled.turns) meter.open = ofUnfinished(open);
    this.grow(meter, { ...ofUsage(turns, usage), restarts });
  }

  /** Counts the running time over all incarnations. */
  ran(id: string, wall_ms: number): void {
    this.grow(this.meter(id), { wall_ms });
  }

  /** Counts the output bytes of this incarnation so far. `open`: new usage of its open turn; undefined if unchanged. */
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

  /** Reads a meter from the records, without a change to the sum. */
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
    // An ended worker has no output left to read: its next incarnation counts from here.
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
