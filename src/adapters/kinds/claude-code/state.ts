/** The state of the Claude Code decoder between two lines: small, immutable, JSON. Every list is bounded. */
import type { ModelUsage, Usage, WorkerError } from "../../../protocol/records.ts";
import type { Opening } from "../../adapter.ts";
import type { Reset } from "../../decoding/reset-time.ts";
import { NO_USAGE } from "../../decoding/usage.ts";
import { converses } from "./converses.ts";

/** A message that arrives in deltas. An `assistant` line repeats its whole text. */
export interface StreamedMessage {
  readonly id: string;
  /** The call of the sub-agent that writes it; "" for the main agent. */
  readonly parent: string;
  /** The channels for which deltas arrived. */
  readonly text: boolean;
  readonly reasoning: boolean;
  /** A whole text of it was recorded before any delta. */
  readonly whole?: boolean;
}

/** One `result` line: the end of a turn. */
export interface TurnResult {
  readonly error: WorkerError | null;
  readonly text: string | null;
  readonly num_turns: number | null;
  readonly stop_reason: string | null;
  readonly terminal_reason: string | null;
}

/** The usage of messages: the newest ones by id, and all earlier ones as a sum by model. */
export interface MessageUsage {
  readonly before: readonly ModelUsage[];
  readonly messages: readonly (readonly [id: string, usage: ModelUsage])[];
}

export interface ClaudeState {
  readonly session: string | null;
  /** The session facet has been sent: once per run, with the first session. */
  readonly announced: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** Calls without a result yet, newest last: [id, tool name]. */
  readonly tools: readonly (readonly [string, string | null])[];
  /** Messages that arrive in deltas, newest last. */
  readonly streamed: readonly StreamedMessage[];
  /** The HTTP status in the last retry notice; 0 if there was none. */
  readonly retry_status: number;
  /** The error reported since the last result. */
  readonly reported: WorkerError | null;
  /**
   * When the limit that refused a request resets, as the provider says; absent in a state of an older
   * version.
   */
  readonly limit?: Reset | undefined;
  readonly result: TurnResult | null;
  readonly usage: Usage;
  /** The main model, as the start of the newest turn names it; absent in a state of an older version. */
  readonly model?: string | null;
  /** Dollars of the running total that are already counted. */
  readonly spent_usd: number;
  /** Tokens of the running total that are already counted; absent in a state of an older version. */
  readonly spent_tokens?: Usage;
  /** A line over the limit was skipped, perhaps the result. */
  readonly skipped: boolean;
  /** The agent made a request that cannot be answered, so the run has failed however its turn ends. */
  readonly unanswerable?: true;
  /**
   * The number of background tasks in the last report; absent if the CLI reports none, and in a state of an
   * older version.
   */
  readonly background?: number;
  /** The usage of the open turn; absent in a state of an older version. */
  readonly spending?: MessageUsage | null;
  /** It has a dialogue, for one prompt or for a conversation. Absent in a state of an older version. */
  readonly spoken?: "once" | "open" | undefined;
}

/** Open calls that are remembered. The result of an older call has no tool name. */
export const TOOLS_MAX = 32;
/** Messages whose usage may still change: the newest ones of the main agent and its sub-agents. */
export const MESSAGES_COUNTED_MAX = 16;
/** Messages in deltas at one time, of the main agent and its sub-agents. */
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
