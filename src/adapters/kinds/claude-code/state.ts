/** The memory of the decoder of Claude Code between two lines: small, immutable, JSON. Every list has a bound. */
import type { ModelUsage, Usage, WorkerError } from "../../../protocol/records.ts";
import type { Opening } from "../../adapter.ts";
import type { Reset } from "../../decoding/reset-time.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import { converses } from "./converses.ts";

/** A message that arrives as deltas. Its text comes again, whole, in an `assistant` line. */
export interface StreamedMessage {
  readonly id: string;
  /** The call of the sub-agent that speaks; "" for the main agent. */
  readonly parent: string;
  /** Channels of which deltas were seen. */
  readonly text: boolean;
  readonly reasoning: boolean;
  /** A whole text of it was told before any delta. */
  readonly whole?: boolean;
}

/** One `result` line: how a turn ended. */
export interface TurnResult {
  readonly error: WorkerError | null;
  readonly text: string | null;
  readonly num_turns: number | null;
  readonly stop_reason: string | null;
  readonly terminal_reason: string | null;
}

/** The usage of messages: of the newest ones each by its id, of those before them the sum by model. */
export interface MessageUsage {
  readonly before: readonly ModelUsage[];
  readonly messages: readonly (readonly [id: string, usage: ModelUsage])[];
}

export interface ClaudeState {
  readonly session: string | null;
  /** The session facet goes out once a run, on the first session. */
  readonly announced: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** Calls that wait for their result, newest last: [id, tool name]. */
  readonly tools: readonly (readonly [string, string | null])[];
  /** Messages in deltas, newest last. */
  readonly streamed: readonly StreamedMessage[];
  /** HTTP status that the last retry notice gave; 0 when none. */
  readonly retry_status: number;
  /** The error that was reported since the last result. */
  readonly reported: WorkerError | null;
  /** The provider's word on the limit that it has refused by; a state of an older version has none. */
  readonly limit?: Reset | undefined;
  readonly result: TurnResult | null;
  readonly usage: Usage;
  /** The main one, as the newest turn's start names it; a state of an older version has none. */
  readonly model?: string | null;
  /** Dollars of the running total that are counted already. */
  readonly spent_usd: number;
  /** Tokens of the running total that are counted already; a state of an older version has none. */
  readonly spent_tokens?: Usage;
  /** A line over the limit was skipped: perhaps the result. */
  readonly skipped: boolean;
  /** It asked for something that nobody can answer: however its turn ends, the run has failed. */
  readonly unanswerable?: true;
  /** How many tasks run in the background, as it was told last; a CLI that tells none, and a state of an older version, has none. */
  readonly background?: number;
  /** The usage of the open turn; a state of an older version has none. */
  readonly spending?: MessageUsage | null;
  /** It is spoken with, and what for: one prompt, or a conversation. A state of an older version has none. */
  readonly spoken?: "once" | "open" | undefined;
}

/** Results that are waited for; an older call's result then goes without its tool's name. */
export const TOOLS_MAX = 32;
/** Messages whose usage may be said again: the main agent's newest and its sub-agents'. */
export const MESSAGES_COUNTED_MAX = 16;
/** Messages in deltas at one time: the main agent's and its sub-agents'. */
export const STREAMED_MAX = 16;

export const initial = ({ spec }: Opening): ClaudeState => ({
  session: null,
  announced: false,
  turns_started: 0,
  turns_ended: 0,
  tools: [],
  streamed: [],
  retry_status: 0,
  reported: null,
  result: null,
  usage: NO_USAGE,
  spent_usd: 0,
  skipped: false,
  ...(converses(spec) ? { spoken: spec.interactive ? "open" : "once" } : {}),
});
