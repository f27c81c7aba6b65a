/**
 * Handles a turn that was open when the agent ended by itself: whether the next incarnation continues it. The open tool may
 * then run again, so by default a question is asked if the tool may have changed something. Pure.
 */

import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import { HOLD_ANSWERS } from "../../protocol/holds.ts";
import type { RecordDraft, RecordPayloads } from "../../protocol/records.ts";
import type { OnInterrupted } from "../../protocol/worker.ts";
import type { Recorder } from "./recorder.ts";

/** The facts of the interrupted turn, from the records. */
export interface InterruptedTurn {
  /** Names of the open tools, except those that only read. */
  readonly tools: readonly string[];
  /** The session that it would continue. */
  readonly session_id: string | null;
}

const ANSWERS = HOLD_ANSWERS.interrupted;
export type InterruptedAnswer = (typeof ANSWERS)[number];

export const isInterruptedAnswer = (answer: string): answer is InterruptedAnswer =>
  ANSWERS.some((one) => one === answer);

export const ENDED_INTERRUPTED = "interrupted_turn";

/** Without a policy, the open tools decide. */
export const policyFor = (policy: OnInterrupted | null, { tools }: InterruptedTurn): OnInterrupted =>
  policy ?? (tools.length > 0 ? "ask" : "continue");

/** The worker waits for the answer without a process. */
export const askInterrupted = (
  child: { readonly incarnation: number; readonly state: RecordPayloads["worker_state_changed"]["from"] },
  { tools, session_id }: InterruptedTurn,
  record: Recorder,
  clock: ClockStamp,
): readonly RecordDraft[] => [
  record("worker_question", {
    question_id: `${child.incarnation}.interrupted`,
    about: "interrupted",
    tools,
    session_id,
    answers: ANSWERS,
    clock,
  }),
  record("worker_state_changed", {
    from: child.state,
    to: "waiting",
    reason: interruptedSentence(tools),
    clock,
  }),
];

export const interruptedSentence = (tools: readonly string[]): string =>
  tools.length === 0
    ? "its turn was interrupted"
    : `its turn was interrupted while ${tools.join(", ")} ran, which may run again`;
