/**
 * A turn that was open when its agent ended by itself: whether the next incarnation goes on in it. The tool that was open may run again,
 * so by default somebody is asked where it may have changed something. Pure, as the ladder.
 */

import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import type { RecordDraft, RecordPayloads } from "../../protocol/records.ts";
import type { OnInterrupted } from "../../protocol/worker.ts";
import type { Recorder } from "./recorder.ts";

/** The records' word on it, at the end of the incarnation. */
export interface Interrupted {
  /** Names of the open tools that do not only read. */
  readonly tools: readonly string[];
  /** In which it would go on. */
  readonly session_id: string | null;
}

/** A question that stands, folded from records. */
export interface InterruptedQuestion {
  readonly question_id: string;
  readonly session_id: string | null;
}

type Question = Extract<RecordPayloads["worker_question"], { readonly about: "interrupted" }>;
export type InterruptedAnswer = Question["answers"][number];
const ANSWERS: readonly InterruptedAnswer[] = ["continue", "fresh", "stop"];

export const isInterruptedAnswer = (answer: string): answer is InterruptedAnswer =>
  ANSWERS.some((one) => one === answer);

export const ENDED_INTERRUPTED = "interrupted_turn";

/** Without a policy it is the tools that decide. */
export const policyFor = (policy: OnInterrupted | null, { tools }: Interrupted): OnInterrupted =>
  policy ?? (tools.length > 0 ? "ask" : "continue");

/** It waits for the answer without a process. */
export const askInterrupted = (
  child: { readonly incarnation: number; readonly state: RecordPayloads["worker_state_changed"]["from"] },
  { tools, session_id }: Interrupted,
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

const interruptedSentence = (tools: readonly string[]): string =>
  tools.length === 0
    ? "its turn was interrupted"
    : `its turn was interrupted while ${tools.join(", ")} ran, which may run again`;

export const foldInterrupted = (
  question: InterruptedQuestion | null,
  record: RecordDraft,
): InterruptedQuestion | null => {
  switch (record.type) {
    case "worker_question": {
      if (record.payload.about !== "interrupted") return question;
      const { question_id, session_id } = record.payload;
      return { question_id, session_id };
    }
    case "worker_answered":
      return record.payload.question_id === question?.question_id ? null : question;
    // It was asked as it began to wait; whatever comes next, it waits no more.
    case "worker_state_changed":
      return record.payload.to === "waiting" ? question : null;
    case "worker_ended":
      return null;
    default:
      return question;
  }
};
