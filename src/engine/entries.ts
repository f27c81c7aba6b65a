/**
 * The entries of a journal: the facts of one conversation, in their order. An intent stands before each deed and a result
 * after it, so a reader knows what was begun and not finished. Everything that the engine knows is folded from them.
 */
import type { JsonValue } from "../protocol/records.ts";
import type { TokenCounts } from "../protocol/token-counts.ts";
import type { AssistantMessage, FinishReason, Message, ModelErrorKind, ToolCall } from "./model.ts";

/** The error of a turn: a code of the error catalogue, and one sentence. */
export interface TurnError {
  readonly code: string;
  readonly message: string;
  readonly retry_after_s?: number;
}

export type JournalEntry =
  /** The first entry. `forked_from`: the entries behind it are those of another session. */
  | { readonly type: "opened"; readonly session: string; readonly forked_from?: string }
  /** A message that begins a turn. */
  | {
      readonly type: "given";
      readonly message_id: string;
      readonly worker_id: string;
      readonly text: string;
    }
  /** Intent: the model is asked for its next answer. */
  | { readonly type: "asking" }
  | {
      readonly type: "answered";
      readonly reason: FinishReason;
      readonly message: AssistantMessage;
      readonly usage: TokenCounts;
    }
  | {
      readonly type: "failed";
      readonly kind: ModelErrorKind;
      /** One sentence, without a text of the provider. */
      readonly message: string;
      readonly status?: number;
      readonly retry_after_ms?: number;
    }
  /** Intent: the model is asked for a summary of the older messages. */
  | { readonly type: "summarizing" }
  /** Intent: a tool is run. */
  | { readonly type: "calling"; readonly call_id: string; readonly is_idempotent: boolean }
  | {
      readonly type: "returned";
      readonly call_id: string;
      readonly output: JsonValue;
      readonly is_error: boolean;
      readonly code?: string;
    }
  /** The answer did not match its schema; `text` tells the model how. */
  | { readonly type: "corrected"; readonly text: string }
  /** The messages of the conversation from now on. `usage`: that of a summary by the model. */
  | {
      readonly type: "compacted";
      readonly policy: string;
      readonly messages: readonly Message[];
      readonly usage?: TokenCounts;
    }
  | { readonly type: "interrupted" }
  | { readonly type: "ended"; readonly error: TurnError | null };

/** A call whose intent is on record and whose result is not, after a crash. */
export const OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN";
export const CALL_CANCELLED = "CANCELLED";
export const CALL_DENIED = "PERMISSION_DENIED";

export type CallState = "waiting" | "begun";

/** A call of the last answer that has no result yet. */
export interface PendingCall {
  readonly call: ToolCall;
  readonly state: CallState;
  readonly is_idempotent: boolean;
}
