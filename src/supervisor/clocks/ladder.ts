/**
 * The ladder of a worker that makes no progress: warn, ask, then stop it so that its restart policy decides. Pure. `climb`
 * says what is due, `decideLadder` what is recorded of it, `foldLadder` what a later daemon knows of it.
 *
 *   none ── silent for stall ──▶ warned ── a while ──▶ asked ── nobody answers ──▶ worker_limit_reached
 *     ▲                            │                     │
 *     └──────── progress ──────────┴── progress, or "wait" ─┘
 */

import { STALL_ASK_MAX_MS, STALL_WARN_MAX_MS } from "../../base/limits.ts";
import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import { HOLD_ANSWERS } from "../../protocol/holds.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import { type ClockBounds, oldestTool, type WorkerClocks } from "./clocks.ts";

/** Folded from records; `at_ms` is when the worker reached this stage, in monotonic milliseconds. */
export type Ladder =
  | { readonly stage: "none"; readonly at_ms: number }
  | { readonly stage: "warned"; readonly at_ms: number }
  | { readonly stage: "asked"; readonly at_ms: number; readonly question_id: string };

export const FOOT: Ladder = { stage: "none", at_ms: Number.NEGATIVE_INFINITY };

const ANSWERS = HOLD_ANSWERS.stall;
export type StallAnswer = (typeof ANSWERS)[number];

export type LadderInput =
  | { readonly type: "stalled"; readonly idle_ms: number; readonly bound_ms: number }
  | {
      readonly type: "ask";
      readonly question_id: string;
      readonly idle_ms: number;
      readonly answer_within_ms: number;
    }
  /** The worker has made progress, so the question is withdrawn. */
  | { readonly type: "withdraw" };

export type LadderStep =
  | { readonly type: "warn" | "ask"; readonly idle_ms: number }
  | { readonly type: "withdraw" }
  | {
      readonly type: "limit";
      readonly limit: "stall" | "tool";
      readonly value: number;
      readonly bound: number;
    };

/** How long a warning stands before a question is asked, and how long the question stays open. */
export const warnTime = (stall_ms: number): number => Math.min(stall_ms, STALL_WARN_MAX_MS);
export const askTime = (stall_ms: number): number => Math.min(stall_ms, STALL_ASK_MAX_MS);

/**
 * The next step, if one is due. While a tool runs, only the tool's own limit applies. A stopped process cannot make
 * progress, so it does not stall, and neither does a worker that waits for a message.
 */
export const climb = (
  ladder: Ladder,
  clocks: WorkerClocks,
  bounds: ClockBounds,
  now: number,
): LadderStep | undefined => {
  const due = nextStep(ladder, clocks, bounds);
  return due !== undefined && now >= due.at_ms ? due.step(Math.round(now - clocks.progress_ms)) : undefined;
};

/** When the worker must be checked next. */
export const dueAt = (ladder: Ladder, clocks: WorkerClocks, bounds: ClockBounds): number =>
  Math.min(
    clocks.beat_ms + bounds.heartbeat_ms,
    nextStep(ladder, clocks, bounds)?.at_ms ?? Number.POSITIVE_INFINITY,
  );

interface DueStep {
  readonly at_ms: number;
  readonly step: (idle_ms: number) => LadderStep;
}

const nextStep = (ladder: Ladder, clocks: WorkerClocks, bounds: ClockBounds): DueStep | undefined => {
  const { stall_ms, tool_timeout_ms } = bounds;
  // A record of the same tick as the question does not count as progress; a later one does.
  const moved = clocks.progress_ms > ladder.at_ms;
  if (ladder.stage === "asked" && moved) return { at_ms: 0, step: () => ({ type: "withdraw" }) };
  if (clocks.process !== "running" || clocks.waits) return undefined;
  const tool = oldestTool(clocks);
  if (tool !== undefined) {
    if (tool_timeout_ms === 0) return undefined;
    const at_ms = tool + tool_timeout_ms;
    return {
      at_ms,
      step: () => ({ type: "limit", limit: "tool", value: tool_timeout_ms, bound: tool_timeout_ms }),
    };
  }
  if (stall_ms === 0) return undefined;
  const since = Math.max(clocks.since_ms, ladder.at_ms);
  if (ladder.stage === "none" || moved)
    return { at_ms: since + stall_ms, step: (idle_ms) => ({ type: "warn", idle_ms }) };
  if (ladder.stage === "warned")
    return { at_ms: since + warnTime(stall_ms), step: (idle_ms) => ({ type: "ask", idle_ms }) };
  return {
    at_ms: since + askTime(stall_ms),
    step: (value) => ({ type: "limit", limit: "stall", value, bound: stall_ms }),
  };
};

/** The records of a step. A worker that has ended, or is being stopped, climbs no further. */
export const decideLadder = (
  child: { readonly worker_id: string; readonly incarnation: number; readonly ladder: Ladder },
  input: LadderInput,
  clock: ClockStamp,
): readonly RecordDraft[] => {
  const { worker_id, incarnation, ladder } = child;
  const of = { stream: workerStream(worker_id), worker_id, incarnation };
  switch (input.type) {
    case "stalled": {
      const { idle_ms, bound_ms } = input;
      return [{ ...of, type: "worker_stalled", payload: { stage: "warn", idle_ms, bound_ms, clock } }];
    }
    case "ask": {
      if (ladder.stage === "asked") return [];
      const { question_id, idle_ms, answer_within_ms } = input;
      const payload = {
        question_id,
        about: "stall" as const,
        idle_ms,
        answers: ANSWERS,
        answer_within_ms,
        clock,
      };
      return [{ ...of, type: "worker_question", payload }];
    }
    case "withdraw": {
      if (ladder.stage !== "asked") return [];
      const payload = { question_id: ladder.question_id, reason: "progress" as const, clock };
      return [{ ...of, type: "worker_question_withdrawn", payload }];
    }
  }
};

/** `at` is the time of the record in monotonic milliseconds of this boot. */
export const foldLadder = (ladder: Ladder, record: RecordDraft, at: number): Ladder => {
  switch (record.type) {
    case "worker_stalled":
      return { stage: "warned", at_ms: at };
    case "worker_question":
      if (record.payload.about !== "stall") return ladder;
      return { stage: "asked", at_ms: at, question_id: record.payload.question_id };
    case "worker_answered":
    case "worker_question_withdrawn":
      if (ladder.stage !== "asked" || record.payload.question_id !== ladder.question_id) return ladder;
      return { stage: "none", at_ms: at };
    // The question was not answered in time, or the worker was stopped.
    case "worker_limit_reached":
    case "worker_cancel_requested":
    case "worker_exited":
      return FOOT;
    default:
      return ladder;
  }
};

export const LADDER_RECORDS = [
  "worker_stalled",
  "worker_question",
  "worker_answered",
  "worker_question_withdrawn",
] as const;
