/**
 * Decides the next command of a conversation. Pure, total, and idempotent: after a crash the same function goes on from the
 * journal. The shell carries out one command at a time, so a call that is begun here without a result was cut off.
 */
import { backoffDelay } from "../base/backoff.ts";
import {
  ENGINE_CALLS_AT_ONCE_MAX,
  ENGINE_CORRECTIONS_MAX,
  ENGINE_RETRY_AFTER_MAX_MS,
  ENGINE_RETRY_MAX_MS,
  ENGINE_RETRY_MIN_MS,
} from "../base/limits.ts";
import { PROVIDER_ERRORS } from "../protocol/provider-errors.ts";
import type { ConversationState, EngineTurn, ModelFailure } from "./conversation.ts";
import type { PendingCall, TurnError } from "./entries.ts";
import type { ToolCall } from "./model.ts";
import { errorOfFailure } from "./model-errors.ts";

export type Command =
  /** Nothing to do until a message comes. */
  | { readonly type: "wait" }
  /** After `wait_ms`, ask the model; `tried` failures came before. */
  | { readonly type: "ask"; readonly wait_ms: number; readonly tried: number }
  /** Calls that are run beside each other: one, or several that may overlap. */
  | { readonly type: "call"; readonly calls: readonly PendingCall[] }
  /** A call was begun and may have had its effect: the model is told that nobody knows. */
  | { readonly type: "unknown"; readonly pending: PendingCall }
  /** The turn was interrupted before the call began. */
  | { readonly type: "skip"; readonly pending: PendingCall }
  /** After `wait_ms`, make the conversation shorter; `tried` summaries failed before. */
  | {
      readonly type: "compact";
      readonly by: "trim" | "summarize";
      readonly wait_ms: number;
      readonly tried: number;
    }
  | { readonly type: "correct"; readonly text: string }
  | { readonly type: "end"; readonly error: TurnError | null };

export interface LoopRules {
  readonly steps_max: number;
  /** Tries for one answer of the model. */
  readonly tries_max: number;
  /** The conversation is compacted from this size on; null: never. */
  readonly context_max_tokens: number | null;
  /** How it is compacted. */
  readonly compaction: "trim" | "summarize";
  /** The mistake in an answer, in words for the model; undefined if there is none. */
  readonly mistakeIn: (text: string) => string | undefined;
  /** Whether the policy lets the call run without asking, and beside others. */
  readonly mayOverlap: (call: ToolCall) => boolean;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Any answer is right. */
export const ANY_FORM: LoopRules["mistakeIn"] = () => undefined;

const RETRIED: ReadonlySet<ModelFailure["kind"]> = new Set([
  "rate_limited",
  "overloaded",
  "bad_answer",
  "reset",
  "unreachable",
]);

const CANCELLED: TurnError = {
  code: "AGENT_FAILED",
  message: "The agent's turn was cancelled before it had answered.",
};

/** The wait before the next try, in milliseconds; undefined if no further try is worth it. */
const waitAfter = (turn: EngineTurn, failure: ModelFailure, rules: LoopRules): number | undefined => {
  const { kind, retry_after_ms = 0 } = failure;
  const isWorthIt = RETRIED.has(kind) && turn.tries < rules.tries_max;
  if (!isWorthIt || retry_after_ms > ENGINE_RETRY_AFTER_MAX_MS) return undefined;
  const bounds = { min_ms: ENGINE_RETRY_MIN_MS, max_ms: ENGINE_RETRY_MAX_MS };
  return Math.max(retry_after_ms, backoffDelay(turn.tries, bounds, rules.random()));
};

/** The model failed: ask again, make room, or end the turn. */
const afterFailure = (turn: EngineTurn, failure: ModelFailure, rules: LoopRules): Command => {
  const isTooLong = failure.kind === "context_overflow" && rules.context_max_tokens !== null;
  if (isTooLong && !turn.is_compacted) return compactBy(rules.compaction);
  const wait_ms = waitAfter(turn, failure, rules);
  return wait_ms === undefined
    ? { type: "end", error: errorOfFailure(failure) }
    : { type: "ask", wait_ms, tried: turn.tries };
};

const compactBy = (by: LoopRules["compaction"]): Command => ({ type: "compact", by, wait_ms: 0, tried: 0 });

/** A summary was asked for: ask again, or do without one. */
const afterSummary = (turn: EngineTurn, rules: LoopRules): Command => {
  if (turn.failure === null) return compactBy("summarize");
  const wait_ms = waitAfter(turn, turn.failure, rules);
  return wait_ms === undefined
    ? compactBy("trim")
    : { type: "compact", by: "summarize", wait_ms, tried: turn.tries };
};

/** The model has answered without a call. */
const afterAnswer = (
  { corrections }: EngineTurn,
  { text, reason }: NonNullable<EngineTurn["answer"]>,
  rules: LoopRules,
): Command => {
  if (reason === "refusal") return { type: "end", error: PROVIDER_ERRORS.refusal };
  if (reason === "length") return { type: "end", error: PROVIDER_ERRORS.max_tokens };
  const mistake = rules.mistakeIn(text);
  if (mistake === undefined) return { type: "end", error: null };
  return corrections < ENGINE_CORRECTIONS_MAX
    ? { type: "correct", text: mistake }
    : {
        type: "end",
        error: { code: "AGENT_FAILED", message: "The agent could not answer in the requested form." },
      };
};

/** The first call, and those right behind it that may run beside it. */
const nextCalls = ({ calls, is_interrupted }: EngineTurn, rules: LoopRules): Command | undefined => {
  const [pending] = calls;
  if (pending === undefined) return undefined;
  if (pending.state === "begun" && !pending.is_idempotent) return { type: "unknown", pending };
  if (is_interrupted) return { type: "skip", pending };
  const alone = calls.findIndex((one) => !mayRunBeside(one, rules));
  const count = Math.min(alone === -1 ? calls.length : alone, ENGINE_CALLS_AT_ONCE_MAX);
  return { type: "call", calls: calls.slice(0, Math.max(1, count)) };
};

/** A call that was cut off and may have had its effect is told of, and not run. */
const mayRunBeside = ({ call, state, is_idempotent }: PendingCall, rules: LoopRules): boolean =>
  (state === "waiting" || is_idempotent) && rules.mayOverlap(call);

export const next = ({ turn, context_tokens }: ConversationState, rules: LoopRules): Command => {
  if (turn === null) return { type: "wait" };
  const calls = nextCalls(turn, rules);
  if (calls !== undefined) return calls;
  if (turn.is_interrupted) return { type: "end", error: CANCELLED };
  if (turn.is_summarizing) return afterSummary(turn, rules);
  if (turn.failure !== null) return afterFailure(turn, turn.failure, rules);
  if (turn.answer !== null) return afterAnswer(turn, turn.answer, rules);
  if (turn.steps >= rules.steps_max)
    return {
      type: "end",
      error: {
        code: "MAX_TURNS",
        message: `The agent used all the ${rules.steps_max} steps that it was allowed.`,
      },
    };
  const isFull = rules.context_max_tokens !== null && context_tokens >= rules.context_max_tokens;
  return isFull && !turn.is_compacted ? compactBy(rules.compaction) : { type: "ask", wait_ms: 0, tried: 0 };
};
