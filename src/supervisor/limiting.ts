/** What a worker may use: its time, which the machine keeps, and its budget, which is asked after each completed turn. */
import type { RecordDraft } from "../protocol/records.ts";
import { breachOf, type TimeLeft, timeLeft } from "./budgets.ts";
import { isPaused, pausedMs } from "./pause.ts";
import type { Shell } from "./worker.ts";

export const durationOf = ({ journal }: Shell): number => {
  const now = journal.now();
  return Math.max(0, now - (journal.child().started_ms ?? now));
};

const timeLeftOf = ({ journal, spec, bridge }: Shell): TimeLeft | undefined => {
  const now = journal.now();
  const { started_ms, spent_ms, pause } = journal.child();
  const since = started_ms ?? now;
  return timeLeft(spec, now - since - bridge.gaps.forgiven(since) - pausedMs(pause, now), spent_ms);
};

/** For the machine: 0 is no limit. */
export const timeoutOf = (shell: Shell): number => {
  const left = timeLeftOf(shell);
  return left === undefined ? 0 : Math.max(1, left.left_ms);
};

export const reportTimeout = async (shell: Shell): Promise<void> => {
  // The alarm may ring before the tick sees why it rings so early.
  shell.bridge.gaps.look();
  if (isPaused(shell.journal.child())) return;
  const left = timeLeftOf(shell);
  if (left === undefined) return;
  if (left.left_ms > 0) return shell.tell({ type: "TIME_LEFT", timeout_ms: left.left_ms });
  const { limit, bound } = left;
  await shell.journal.fact({ type: "limit", limit, value: bound, bound, grace_ms: shell.spec.grace_ms });
};

export const checkBudget = async ({ journal, spec, id }: Shell): Promise<void> => {
  const row = await journal.ask((log) => log.worker(id));
  const breach = row === undefined ? undefined : breachOf(spec.budget, row);
  if (breach !== undefined) await journal.fact({ type: "limit", ...breach, grace_ms: spec.grace_ms });
};

export const completesTurn = (drafts: readonly RecordDraft[]): boolean =>
  drafts.some((draft) => draft.type === "turn_completed");
