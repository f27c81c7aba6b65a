/** The limits of a worker: its time, which the machine keeps, the disk, and the budgets in which it counts. */
import { Effect } from "effect";
import { ENDING_GRACE_MS } from "../../base/limits.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import { isPaused, pausedMs } from "../../supervisor/holds/pause.ts";
import type { Shell } from "./worker.ts";

export const durationOf = ({ journal }: Shell): number => {
  const now = journal.now();
  return Math.max(0, now - (journal.child().started_ms ?? now));
};

/** The time that is left of its timeout, which bounds one incarnation; undefined without one. */
const timeLeftOf = ({ journal, spec, bridge }: Shell): number | undefined => {
  if (spec.timeout_ms === 0) return undefined;
  const now = journal.now();
  const { started_ms, pause } = journal.child();
  const since = started_ms ?? now;
  return spec.timeout_ms - (now - since - bridge.gaps.forgiven(since) - pausedMs(pause, now));
};

/** For the machine: 0 is no limit. */
export const timeoutOf = (shell: Shell): number => {
  const left = timeLeftOf(shell);
  return left === undefined ? 0 : Math.max(1, left);
};

export const reportTimeout = (shell: Shell): Effect.Effect<void> =>
  Effect.suspend(() => {
    // The alarm may ring before the tick sees why it rings so early.
    shell.bridge.gaps.look();
    if (isPaused(shell.journal.child())) return Effect.void;
    const left = timeLeftOf(shell);
    if (left === undefined) return Effect.void;
    if (left > 0) return Effect.sync(() => shell.tell({ type: "TIME_LEFT", timeout_ms: left }));
    const { timeout_ms: bound, grace_ms } = shell.spec;
    return shell.journal.fact({ type: "limit", limit: "timeout", value: bound, bound, grace_ms });
  });

/** The cost of these records is counted at once. An agent that was given one prompt and has answered it ends by itself, mostly. */
export const checkBudget = (shell: Shell, drafts: readonly RecordDraft[]): void => {
  const { bridge, incarnation, spec } = shell;
  const intake = incarnation?.intake;
  const { accounts, alarms } = bridge;
  const spending = intake?.spending();
  const turn = drafts.findLast(({ type }) => type === "turn_started" || type === "turn_completed");
  // At a turn's end, what it comes to takes the place of what was told before in one step.
  if (intake !== undefined) accounts.wrote(shell, intake.read(), turn === undefined ? spending : undefined);
  if (turn === undefined) return;
  const isDone = turn.type === "turn_completed" && !spec.interactive;
  accounts.look(shell, isDone, spending);
  if (!isDone) return;
  alarms.after(ENDING_GRACE_MS, () => {
    if (shell.incarnation === incarnation) accounts.look(shell);
  });
};
