/** Applies the limits of a worker: its timeout, which the machine keeps, its deadline, and its budgets. */
import { Effect } from "effect";
import { ENDING_GRACE_MS } from "../../base/limits.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { deadlineReached } from "../../supervisor/clocks/deadline.ts";
import { isPaused, pausedMs } from "../../supervisor/holds/pause.ts";
import type { LiveWorker } from "./worker.ts";

export const durationOf = ({ journal }: LiveWorker): number => {
  const now = journal.now();
  return Math.max(0, now - (journal.child().started_ms ?? now));
};

/** Milliseconds that are left of the timeout of this incarnation; undefined without one. */
const timeLeftOf = ({ journal, spec, shared }: LiveWorker): number | undefined => {
  if (spec.timeout_ms === 0) return undefined;
  const now = journal.now();
  const { started_ms, pause } = journal.child();
  const since = started_ms ?? now;
  return spec.timeout_ms - (now - since - shared.gaps.forgiven(since) - pausedMs(pause, now));
};

/** The timeout in milliseconds, for the machine; 0 for no limit. */
export const timeoutOf = (worker: LiveWorker): number => {
  const left = timeLeftOf(worker);
  return left === undefined ? 0 : Math.max(1, left);
};

export const reportTimeout = (worker: LiveWorker): Effect.Effect<void> =>
  Effect.suspend(() => {
    // The alarm may ring before the tick has seen a gap.
    worker.shared.gaps.look();
    if (isPaused(worker.journal.child())) return Effect.void;
    const left = timeLeftOf(worker);
    if (left === undefined) return Effect.void;
    if (left > 0) return Effect.sync(() => worker.tell({ type: "TIME_LEFT", timeout_ms: left }));
    const { timeout_ms: bound, grace_ms } = worker.spec;
    return worker.journal.fact({ type: "limit", limit: "timeout", value: bound, bound, grace_ms });
  });

/** Called on the tick. If the store refuses the record, the next tick tries again. */
export const checkDeadline = (worker: LiveWorker): void => {
  const { deadline_ms, stop } = worker.child();
  if (deadline_ms === null || stop !== null) return;
  const reached = deadlineReached(deadline_ms, worker.shared.ground.now().wall.ms, worker.spec.grace_ms);
  if (reached !== undefined) worker.fork(worker.tried("its deadline", worker.input(reached), undefined));
};

/**
 * Counts the cost of these records at once. An agent that has answered its only prompt mostly ends by itself, so it
 * gets ENDING_GRACE_MS before the budget is checked in full.
 */
export const checkBudget = (worker: LiveWorker, drafts: readonly RecordDraft[]): void => {
  const { shared, incarnation, spec } = worker;
  const intake = incarnation?.intake;
  const { accounts, alarms } = shared;
  const spending = intake?.spending();
  const turn = drafts.findLast(({ type }) => type === "turn_started" || type === "turn_completed");
  // At a turn's end, its usage replaces the usage so far in one step.
  if (intake !== undefined) accounts.wrote(worker, intake.read(), turn === undefined ? spending : undefined);
  if (turn === undefined) return;
  const isDone = turn.type === "turn_completed" && !spec.interactive;
  accounts.look(worker, isDone, spending);
  if (!isDone) return;
  alarms.after(ENDING_GRACE_MS, () => {
    if (worker.incarnation === incarnation) accounts.look(worker);
  });
};
