/**
 * The state that decoders of CLIs with one prompt share, and the completion of their runs: small, immutable,
 * JSON.
 */
import type { AgentCompletion } from "../../protocol/completion.ts";
import type { Usage, WorkerError } from "../../protocol/records.ts";
import type { ExitFacts } from "../adapter.ts";
import { sessionFacet } from "./events.ts";
import { type KeptAnswer, NO_ANSWER } from "./final-text.ts";
import { NO_USAGE } from "./usage.ts";

export interface HeadlessState {
  readonly session: string | null;
  /** The session facet has been sent: once per run, with the first session. */
  readonly announced: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** Calls without a result yet, newest last: [id, tool name]. */
  readonly tools: readonly (readonly [string, string | null])[];
  /** The last message of the agent itself. */
  readonly answer: IdentifiedAnswer;
  /** A reported error whose turn has not ended yet. */
  readonly reported: WorkerError | null;
  /** The error of the last ended turn; null before the first end and after a success. */
  readonly failed: WorkerError | null;
  readonly usage: Usage;
  /** A line over the limit was skipped, perhaps the end of the turn. */
  readonly skipped: boolean;
}

interface IdentifiedAnswer extends KeptAnswer {
  readonly id: string | null;
}

export const NOTHING_YET: HeadlessState = {
  session: null,
  announced: false,
  turns_started: 0,
  turns_ended: 0,
  tools: [],
  answer: { id: null, ...NO_ANSWER },
  reported: null,
  failed: null,
  usage: NO_USAGE,
  skipped: false,
};

/** Every started turn has ended. */
export const isSettled = ({ turns_started, turns_ended }: HeadlessState): boolean =>
  turns_ended > 0 && turns_ended >= turns_started;

/** `answered`: the last text is the agent's answer, not something that it said before a failure. */
export const completionOf = (
  { session, turns_ended, usage, answer }: HeadlessState,
  { status }: ExitFacts,
  answered: boolean,
): AgentCompletion => {
  const data = {
    ...(session === null ? {} : sessionFacet(session)),
    turns: turns_ended,
    usage: { ...usage },
  };
  return answered && answer.id !== null ? { status, final_text: answer.text, data } : { status, data };
};
