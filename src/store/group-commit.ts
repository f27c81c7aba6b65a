/**
 * Joins the records of concurrent callers in one transaction, written at the next turn of the event loop: a wait for more
 * company would be the watcher's latency, and a busy spool brings its own (docs/decisions/0005). One caller's mistake
 * fails that caller alone: a transaction that fails is tried again for each caller by itself, unless that would only mean
 * to wait for another process once for each.
 */
import { HoldfastError } from "../protocol/errors.ts";
import { COMMIT_QUEUE_MAX_RECORDS, TRANSACTION_MAX_RECORDS } from "../protocol/limits.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { Draft } from "./append.ts";

type Records = readonly LogRecord[];

interface Waiting extends Draft {
  readonly resolve: (records: Records) => void;
  readonly reject: (cause: unknown) => void;
}

export interface GroupCommit {
  commit(draft: Draft): Promise<Records>;
  /** Write all that waits, now: what comes after it must not overtake it. */
  drain(): void;
}

/** A checkpoint alone is work too. */
const weight = (draft: Draft): number => Math.max(1, draft.drafts.length);

export const groupCommit = (write: (callers: readonly Draft[]) => readonly Records[]): GroupCommit => {
  let queue: Waiting[] = [];
  let queued = 0;
  let immediate: NodeJS.Immediate | undefined;

  /** As many callers as fit one transaction, at least one. */
  const takeGroup = (): Waiting[] => {
    let records = 0;
    let count = 0;
    for (const waiting of queue) {
      if (count > 0 && records + weight(waiting) > TRANSACTION_MAX_RECORDS) break;
      records += weight(waiting);
      count++;
    }
    queued -= records;
    const group = queue.slice(0, count);
    queue = queue.slice(count);
    return group;
  };

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
    if (queue.length > 0) soon();
  };

  return {
    commit: (draft) => {
      const records = weight(draft);
      if (queued + records > COMMIT_QUEUE_MAX_RECORDS)
        return Promise.reject(
          new HoldfastError(
            "QUEUE_FULL",
            `${queued} records wait to be written, and ${COMMIT_QUEUE_MAX_RECORDS} is the bound.`,
          ),
        );
      const { promise, resolve, reject } = Promise.withResolvers<Records>();
      queue.push({ ...draft, resolve, reject });
      queued += records;
      soon();
      return promise;
    },
    drain: () => {
      unschedule();
      while (queue.length > 0) writeGroup(takeGroup());
    },
  };
};
