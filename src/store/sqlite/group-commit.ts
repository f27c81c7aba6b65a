/**
 * Joins the records of concurrent callers in one transaction, written at the next turn of the event loop. A longer wait for
 * more callers would only delay the watchers, and a busy spool fills its transactions itself (docs/decisions/0005). A mistake
 * of one caller fails only that caller: a failed transaction is tried again for each caller alone, unless another process had
 * the lock, because each try would then wait for it.
 *
 * There are two lanes. Batches of a flood (`AppendOptions.flood`) let all others go first and keep their own order. Each
 * transaction takes at most one batch of a flood; one that was left out goes first in the next transaction.
 */

import { COMMIT_QUEUE_MAX_RECORDS, TRANSACTION_MAX_RECORDS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { AppendBatch } from "./append.ts";

type Records = readonly LogRecord[];

interface WaitingBatch extends AppendBatch {
  readonly resolve: (records: Records) => void;
  readonly reject: (cause: unknown) => void;
}

/** The waiting callers, in order. A flooding worker has at most one batch here, because it awaits the commit before it reads on. */
interface CommitLane {
  waiting: WaitingBatch[];
  records: number;
}

/** The size of a batch in records. A checkpoint alone counts as one. */
const weight = (draft: AppendBatch): number => Math.max(1, draft.drafts.length);

export class GroupCommit {
  private readonly write: (callers: readonly AppendBatch[]) => readonly Records[];
  private readonly ordinary: CommitLane = { waiting: [], records: 0 };
  private readonly floods: CommitLane = { waiting: [], records: 0 };
  private floodsWereLeftOut = false;
  private immediate: NodeJS.Immediate | undefined;

  constructor(write: (callers: readonly AppendBatch[]) => readonly Records[]) {
    this.write = write;
  }

  commit(draft: AppendBatch): Promise<Records> {
    const records = weight(draft);
    const lane = draft.options?.flood === true ? this.floods : this.ordinary;
    if (lane === this.ordinary && lane.records + records > COMMIT_QUEUE_MAX_RECORDS)
      return Promise.reject(
        new HoldfastError(
          "QUEUE_FULL",
          `${lane.records} records wait to be written; the bound is ${COMMIT_QUEUE_MAX_RECORDS}.`,
        ),
      );
    const { promise, resolve, reject } = Promise.withResolvers<Records>();
    lane.waiting.push({ ...draft, resolve, reject });
    lane.records += records;
    this.soon();
    return promise;
  }

  /** Writes everything that waits, now, so that nothing later overtakes it. */
  drain(): void {
    this.unschedule();
    while (!this.isIdle()) this.writeGroup(this.takeGroup());
  }

  /** Takes as many callers as fit one transaction, at least one. */
  private takeGroup(): WaitingBatch[] {
    const { ordinary, floods } = this;
    const group: WaitingBatch[] = [];
    let room = TRANSACTION_MAX_RECORDS;
    const take = (lane: CommitLane, most = lane.waiting.length): void => {
      let count = 0;
      for (const waiting of lane.waiting) {
        const records = weight(waiting);
        if (count === most || (records > room && group.length > 0)) break;
        group.push(waiting);
        count += 1;
        room -= records;
        lane.records -= records;
      }
      lane.waiting = lane.waiting.slice(count);
    };
    if (this.floodsWereLeftOut) take(floods, 1);
    take(ordinary);
    const before = group.length;
    if (!this.floodsWereLeftOut) take(floods, 1);
    this.floodsWereLeftOut = floods.waiting.length > 0 && group.length === before && !this.floodsWereLeftOut;
    return group;
  }

  private isIdle(): boolean {
    return this.ordinary.waiting.length === 0 && this.floods.waiting.length === 0;
  }

  private writeAlone(waiting: WaitingBatch): void {
    try {
      waiting.resolve(this.write([waiting])[0]!);
    } catch (cause) {
      waiting.reject(cause);
    }
  }

  /** Writes a group in one transaction. True if all callers have their result. */
  private wroteTogether(group: readonly WaitingBatch[]): boolean {
    let results: readonly Records[];
    try {
      results = this.write(group);
    } catch (cause) {
      if (!(cause instanceof HoldfastError) || cause.code !== "LOCK_HELD") return false;
      for (const { reject } of group) reject(cause);
      return true;
    }
    for (const [i, { resolve }] of group.entries()) resolve(results[i]!);
    return true;
  }

  private writeGroup(group: readonly WaitingBatch[]): void {
    if (group.length > 1 && this.wroteTogether(group)) return;
    for (const waiting of group) this.writeAlone(waiting);
  }

  private unschedule(): void {
    clearImmediate(this.immediate);
    this.immediate = undefined;
  }

  private soon(): void {
    this.immediate ??= setImmediate(() => this.flush());
  }

  /** Writes one transaction per turn of the event loop. */
  private flush(): void {
    this.unschedule();
    this.writeGroup(this.takeGroup());
    if (!this.isIdle()) this.soon();
  }
}
