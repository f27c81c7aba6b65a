/**
 * The deadline of a worker: a time after which it is ended, whatever its incarnations and restarts do. Pure. It is a time on
 * the machine's wall clock, so a pause, a sleep of the machine or a daemon that was away does not move it.
 */
import type { WorkerSpec } from "../../protocol/worker.ts";

/** Epoch milliseconds; null without a deadline. */
export const deadlineOf = ({ deadline_at }: Pick<WorkerSpec, "deadline_at">): number | null =>
  deadline_at === undefined ? null : Date.parse(deadline_at);

/** The input that ends a worker at its deadline, also while it waits to be started; undefined before it. */
export const deadlineReached = (deadline_ms: number | null, wall_ms: number, grace_ms: number) =>
  deadline_ms === null || wall_ms < deadline_ms
    ? undefined
    : ({
        type: "limit",
        limit: "deadline",
        value: wall_ms,
        bound: deadline_ms,
        grace_ms,
        waiting: true,
      } as const);
