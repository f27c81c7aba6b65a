/**
 * Joins the records of concurrent callers in one transaction, written at the next turn of the event loop: a wait for more
 * company would be the watcher's latency, and a busy spool brings its own (docs/decisions/0005). One caller's mistake
 * fails that caller alone: a transaction that fails is tried again for each caller by itself, unless that would only mean
 * to wait for another process once for each.
 *
 * Two lanes: what is part of a flood (`AppendOptions.flood`) lets all others go first, and among its like keeps its order. Each
 * transaction has room for both, but for one batch of a flood at most; one that was left out goes first in the next one.
 */

import { COMMIT_QUEUE_MAX_RECORDS, TRANSACTION_MAX_RECORDS } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { Draft } from "./append.ts";

type Records = readonly LogRecord[];

interface Waiting extends Draft {
  readonly resolve: (records: Records) => void;
  readonly reject: (cause: unknown) => void;
}

/** The waiting callers, in order. A flooding worker has at most one batch here, because it awaits the commit before it reads on. */
interface Lane {
  waiting: Waiting[];
  records: number;
}

export interface GroupCommit {
  commit(draft: Draft): Promise<Records>;
  /** Write all that waits, now: what comes after it must not overtake it. */
  drain(): void;
}

/** A checkpoint alone is work too. */
const weight = (draft: Draft): number => Math.max(1, draft.drafts.length);

export const groupCommit = (write: (callers: readonly Draft[]) => readonly Records[]): GroupCommit => {
  const ordinary: Lane = { waiting: [], records: 0 };
  const floods: Lane = { waiting: [], records: 0 };
  let floodsWereLeftOut = false;
  let immediate: NodeJS.Immediate | undefined;

  /** As many callers as fit one transaction, at least one. */
  const takeGroup = (): Waiting[] => {
    const group: Waiting[] = [];
    let room = TRANSACTION_MAX_RECORDS;
    const take = (lane: Lane, most = lane.waiting.length): void => {
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
    if (floodsWereLeftOut) take(floods, 1);
    take(ordinary);
    const before = group.length;
    if (!floodsWereLeftOut) take(floods, 1);
    floodsWereLeftOut = floods.waiting.length > 0 && group.length === before && !floodsWereLeftOut;
    return group;
  };

  const isIdle = (): boolean => ordinary.waiting.length === 0 && floods.waiting.length === 0;

  const writeAlone = (waiting: Waiting): void => {
    try {
      waiting.resolve(write([waiting])[0]!);
    } catch (cause) {
      waiting.reject(cause);
    }
  };

  /** True when all of them have their answer. */
  const wroteTogether = (group: readonly Waiting[]): boolean => {
    let results: readonly Records[];
    try {
      results = write(group);
    } catch (cause) {
      if (!(cause instanceof HoldfastError) || cause.code !== "LOCK_HELD") return false;
      for (const { reject } of group) reject(cause);
      return true;
    }
    for (const [i, { resolve }] of group.entries()) resolve(results[i]!);
    return true;
  };

  const writeGroup = (group: readonly Waiting[]): void => {
    if (group.length > 1 && wroteTogether(group)) return;
    for (const waiting of group) writeAlone(waiting);
  };

  const unschedule = (): void => {
    clearImmediate(immediate);
    immediate = undefined;
  };

  const soon = (): void => {
    immediate ??= setImmediate(flush);
  };

  /** One transaction a turn of the event loop. */
  const flush = (): void => {
    unschedule();
    writeGroup(takeGroup());
    if (!isIdle()) soon();
  };

  return {
    commit: (draft) => {
      const records = weight(draft);
      const lane = draft.options?.flood === true ? floods : ordinary;
      if (lane === ordinary && lane.records + records > COMMIT_QUEUE_MAX_RECORDS)
        return Promise.reject(
          new HoldfastError(
            "QUEUE_FULL",
            `${lane.records} records wait to be written, and ${COMMIT_QUEUE_MAX_RECORDS} is the bound.`,
          ),
        );
      const { promise, resolve, reject } = Promise.withResolvers<Records>();
      lane.waiting.push({ ...draft, resolve, reject });
      lane.records += records;
      soon();
      return promise;
    },
    drain: () => {
      unschedule();
      while (!isIdle()) writeGroup(takeGroup());
    },
  };
};
