/** Decisions about a worker's session: another worker holds it, it is gone, or a turn in it was interrupted. Pure. */
import { holdOf } from "../../protocol/holds.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { RESTART_ANSWERED, RESTART_WOKEN } from "../../protocol/restart-cause.ts";
import type { StopHow } from "../../protocol/tree-records.ts";
import type { Now } from "../clocks/now.ts";
import type { ChildInput, ChildState, Decision, StopReason } from "./inputs.ts";
import { ENDED_INTERRUPTED, isInterruptedAnswer } from "./interruption.ts";
import type { Recorder } from "./recorder.ts";
import { uncounted, type Verdict } from "./verdict.ts";

export interface SessionDecision extends Decision {
  readonly verdict?: Verdict;
}

const nothing: Decision = { events: [], commands: [] };

/** Anything more that the agent does would happen in another worker's dialogue. */
const AT_ONCE = { grace_ms: 0, signal: "SIGKILL" } as const;

/** The grace and signal of a stop in progress, also for the next daemon. */
export const howToStop = (stop: StopReason, grace_ms: number): Required<StopHow> =>
  stop.kind === "session" ? AT_ONCE : stop.kind === "limit" ? { grace_ms, signal: "SIGTERM" } : stop;

export const decideTaken = (
  child: ChildState,
  { session_id, holder }: Extract<ChildInput, { type: "session_taken" }>,
  record: Recorder,
  { clock }: Now,
): Decision => {
  if (child.stop !== null || !child.open) return nothing;
  const reason = `worker ${holder} goes on in its session`;
  return {
    events: [
      record("session_conflict", { session_id, holder, clock }),
      record("worker_state_changed", { from: child.state, to: "stopping", reason, clock }),
    ],
    commands: [{ type: "stop", ...AT_ONCE }],
  };
};

/**
 * The session of an earlier incarnation if it is gone or damaged, so that a fresh one replaces it. Null if the user asked
 * for this session, which nothing may replace. Undefined if the agent failed for another reason.
 */
export const lostSession = (
  { stop, resumes, asked_session }: ChildState,
  failure: WorkerError | undefined,
): string | null | undefined => {
  if (stop !== null || failure?.code !== "SESSION_NOT_FOUND") return undefined;
  return resumes === asked_session ? null : resumes;
};

export type AnswerInput = Extract<ChildInput, { type: "answer" }>;

export const decideInterrupted = (
  { child, session_id }: { readonly child: ChildState; readonly session_id: string | null },
  { question_id, answer, by }: AnswerInput,
  record: Recorder,
  now: Now,
): SessionDecision => {
  const { clock } = now;
  if (!isInterruptedAnswer(answer)) return nothing;
  const answered = record("worker_answered", { question_id, answer, by, clock });
  if (answer === "stop")
    return {
      events: [answered],
      commands: [],
      verdict: { type: "end", state: "failed", reason: ENDED_INTERRUPTED },
    };
  const abandoned =
    answer === "fresh" && session_id !== null
      ? [record("session_abandoned", { session_id, reason: `answered by ${by}`, clock })]
      : [];
  return {
    events: [answered, ...abandoned, uncounted(child, RESTART_ANSWERED, record, now)],
    commands: [{ type: "start" }],
  };
};

const PASSIVATED = "passivated";

export const decidePassivate = (
  child: ChildState,
  grace_ms: number,
  record: Recorder,
  { clock }: Now,
): Decision => {
  if (child.stop !== null || !child.open) return nothing;
  const how = { grace_ms, signal: "SIGTERM" };
  return {
    events: [
      record("worker_cancel_requested", {
        by: "holdfast",
        reason: PASSIVATED,
        tombstone: false,
        purpose: "passivate",
        ...how,
      }),
      record("worker_state_changed", { from: child.state, to: "stopping", reason: PASSIVATED, clock }),
    ],
    commands: [{ type: "stop", ...how }],
  };
};

export const isPassivated = ({ holds }: Pick<ChildState, "holds">): boolean =>
  holdOf(holds, "passivated") !== undefined;

/** A message does not wake a worker that waits for an answer. */
export const decideWake = (child: ChildState, record: Recorder, now: Now): Decision =>
  child.open || !isPassivated(child)
    ? nothing
    : { events: [uncounted(child, RESTART_WOKEN, record, now)], commands: [{ type: "start" }] };
