/**
 * The port between the engine and a model: one step of a conversation, streamed. A model keeps nothing between two
 * steps; the engine retries, counts, records and decides. All data here is JSON and round-trips through the journal.
 */
import type { JsonValue } from "../protocol/records.ts";
import type { TokenCounts } from "../protocol/token-counts.ts";

/** A tool as the model sees it, and what the engine must know to run it again or not. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of its input. */
  readonly input_schema: JsonValue;
  /** A second run of the same call changes nothing more than the first: the engine may repeat it after a crash. */
  readonly is_idempotent: boolean;
  /** No other call can see what it does: it may run beside others. Counts only for a tool that is idempotent too. */
  readonly may_overlap: boolean;
}

export interface ToolCall {
  /** Unique in its conversation; given by the provider. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly tool_calls: readonly ToolCall[];
  /** Opaque parts that the same provider wants back, such as the signature of a reasoning. */
  readonly provider?: JsonValue;
}

export type Message =
  | { readonly role: "system" | "user"; readonly text: string }
  | AssistantMessage
  | {
      readonly role: "tool";
      readonly call_id: string;
      readonly name: string;
      readonly output: JsonValue;
      readonly is_error: boolean;
    };

export interface ModelRequest {
  /** `provider/model`. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** A JSON Schema that the answer's text must match, as JSON. The engine checks it too. */
  readonly output_schema?: JsonValue;
  readonly max_output_tokens?: number;
}

export type FinishReason = "stop" | "tool_calls" | "length" | "refusal" | "other";

/** Deltas of text, then exactly one `finished`, which has the whole message. */
export type ModelPart =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | {
      readonly type: "finished";
      readonly reason: FinishReason;
      readonly message: AssistantMessage;
      readonly usage: TokenCounts;
    };

export interface Model {
  /** Throws a ModelError; ends soon after `signal` is aborted. One call is one request: no retries inside. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export type ModelErrorKind =
  | "auth"
  | "rate_limited"
  | "overloaded"
  | "context_overflow"
  | "refused"
  | "bad_answer"
  | "reset"
  | "unreachable"
  | "no_such_model"
  | "invalid_request";

export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The provider's own wish, in milliseconds from its answer. */
  readonly retry_after_ms: number | undefined;
  /** `message` is one sentence for a person, without a key or a body in it. */
  constructor(
    kind: ModelErrorKind,
    message: string,
    facts: { readonly status?: number; readonly retry_after_ms?: number; readonly cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.status = facts.status;
    this.retry_after_ms = facts.retry_after_ms;
  }
}
