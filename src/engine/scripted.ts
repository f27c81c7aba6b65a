/** A model that says what a script holds, for tests, benches and demonstrations: no network, no key, no cost. */
import type { JsonValue } from "../protocol/records.ts";
import type { TokenCounts } from "../protocol/token-counts.ts";
import { type Model, ModelError, type ModelErrorKind, type ModelPart, type ModelRequest } from "./model.ts";

/** One answer of the model, or its failure. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input?: JsonValue }[];
  readonly reason?: "length" | "refusal";
  readonly usage?: Partial<TokenCounts>;
  readonly error?: {
    readonly kind: ModelErrorKind;
    readonly status?: number;
    readonly retry_after_ms?: number;
  };
}

const NO_USAGE: TokenCounts = {
  input_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

function* partsOf({
  text = "",
  reasoning,
  calls = [],
  reason,
  usage,
  error,
}: ScriptedAnswer): Generator<ModelPart> {
  if (reasoning !== undefined) yield { type: "reasoning", text: reasoning };
  if (text !== "") yield { type: "text", text };
  if (error !== undefined) throw new ModelError(error.kind, "The script says that the model fails.", error);
  yield {
    type: "finished",
    reason: reason ?? (calls.length > 0 ? "tool_calls" : "stop"),
    message: {
      role: "assistant",
      text,
      tool_calls: calls.map(({ id, name, input }) => ({ id, name, input: input ?? {} })),
    },
    usage: { ...NO_USAGE, ...usage },
  };
}

export const answersOf = (messages: ModelRequest["messages"]): number =>
  messages.filter(({ role }) => role === "assistant").length;

/**
 * Answers by the number of answers that the conversation has already, so a resumed conversation goes on where it was.
 * After the end of the script it says so as an error that no retry mends.
 */
export const scriptedModel = (
  script: readonly ScriptedAnswer[],
  answersIn: (messages: ModelRequest["messages"]) => number = answersOf,
): Model => ({
  async *stream({ messages }: ModelRequest, signal: AbortSignal) {
    signal.throwIfAborted();
    const answer = script[answersIn(messages)];
    if (answer === undefined) throw new ModelError("invalid_request", "The script has no more answers.");
    yield* partsOf(answer);
  },
});
