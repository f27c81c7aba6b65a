/**
 * Decides the next command of a conversation. Pure, total, and idempotent: after a crash the same function goes on from the
 * journal. The shell carries out one command at a time, so a call that is begun here without a result was cut off.
 */
import { backoffDelay } from "../base/backoff.ts";
import {
  ENGINE_CORRECTIONS_MAX,
  ENGINE_RETRY_AFTER_MAX_MS,
  ENGINE_RETRY_MAX_MS,
  ENGINE_RETRY_MIN_MS,
} from "../base/limits.ts";
import { PROVIDER_ERRORS } from "../protocol/provider-errors.ts";
import type { ConversationState, EngineTurn, ModelFailure } from "./conversation.ts";
import type { PendingCall, TurnError } from "./entries.ts";
import { errorOfFailure } from "./model-errors.ts";

export type Command =
  /** Nothing to do until a message comes. */
  | { readonly type: "wait" }
  /** After `wait_ms`, ask the model; `tried` failures came before. */
  | { readonly type: "ask"; readonly wait_ms: number; readonly tried: number }
  | { readonly type: "call"; readonly pending: PendingCall }
  /** A call was begun and may have had its effect: the model is told that nobody knows. */
  | { readonly type: "unknown"; readonly pending: PendingCall }
  /** The turn was interrupted before the call began. */
  | { readonly type: "skip"; readonly pending: PendingCall }
  | { readonly type: "compact" }
  | { readonly type: "correct"; readonly text: string }
  | { readonly type: "end"; readonly error: TurnError | null };

export interface LoopRules {
  readonly steps_max: number;
  /** Tries for one answer of the model. */
  readonly tries_max: number;
  /** The conversation is compacted from this size on; null: never. */
  readonly context_max_tokens: number | null;
  /** The mistake in an answer, in words for the model; undefined if there is none. */
  readonly mistakeIn: (text: string) => string | undefined;
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

/** The model failed: ask again, make room, or end the turn. */
const afterFailure = (turn: EngineTurn, failure: ModelFailure, rules: LoopRules): Command => {
  const { kind, retry_after_ms = 0 } = failure;
  if (kind === "context_overflow" && rules.context_max_tokens !== null && !turn.is_compacted)
    return { type: "compact" };
  const isWorthIt = RETRIED.has(kind) && turn.tries < rules.tries_max;
  if (!isWorthIt || retry_after_ms > ENGINE_RETRY_AFTER_MAX_MS)
    return { type: "end", error: errorOfFailure(failure) };
  const bounds = { min_ms: ENGINE_RETRY_MIN_MS, max_ms: ENGINE_RETRY_MAX_MS };
  const wait_ms = Math.max(retry_after_ms, backoffDelay(turn.tries, bounds, rules.random()));
  return { type: "ask", wait_ms, tried: turn.tries };
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

const nextCall = (pending: PendingCall, isInterrupted: boolean): Command => {
  if (pending.state === "begun" && !pending.is_idempotent) return { type: "unknown", pending };
  return isInterrupted ? { type: "skip", pending } : { type: "call", pending };
};

export const next = ({ turn, context_tokens }: ConversationState, rules: LoopRules): Command => {
  if (turn === null) return { type: "wait" };
  const [pending] = turn.calls;
  if (pending !== undefined) return nextCall(pending, turn.is_interrupted);
  if (turn.is_interrupted) return { type: "end", error: CANCELLED };
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
  return isFull && !turn.is_compacted ? { type: "compact" } : { type: "ask", wait_ms: 0, tried: 0 };
};
