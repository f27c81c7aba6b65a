/** The state of a conversation, folded from its journal. Pure: the same entries give the same state. */
import { ENGINE_TAKEN_MAX } from "../base/limits.ts";
import type { TokenCounts } from "../protocol/token-counts.ts";
import type { JournalEntry, PendingCall, TurnError } from "./entries.ts";
import type { FinishReason, Message, ModelErrorKind } from "./model.ts";

export interface ModelFailure {
  readonly kind: ModelErrorKind;
  readonly message: string;
  readonly status: number | undefined;
  readonly retry_after_ms: number | undefined;
}

/** A turn: from a message to its end. */
export interface EngineTurn {
  readonly message_id: string;
  readonly worker_id: string;
  readonly prompt: string;
  /** Answers of the model so far. */
  readonly steps: number;
  readonly usage: TokenCounts;
  /** Failures since the last answer, and the last of them. */
  readonly tries: number;
  readonly failure: ModelFailure | null;
  /** Calls of the last answer without a result, in their order. */
  readonly calls: readonly PendingCall[];
  /** The last answer, until something follows it. */
  readonly answer: { readonly text: string; readonly reason: FinishReason } | null;
  readonly corrections: number;
  readonly is_interrupted: boolean;
  /** A summary was asked for, and is not there. */
  readonly is_summarizing: boolean;
  /** The conversation was compacted and the model has not answered since. */
  readonly is_compacted: boolean;
}

/** The last turn that has ended. */
export interface EndedEngineTurn {
  readonly turn: EngineTurn;
  readonly error: TurnError | null;
}

export interface ConversationState {
  readonly session: string;
  readonly messages: readonly Message[];
  /** Ids of the newest messages that were taken in. */
  readonly taken: readonly string[];
  /** Turns that have ended. */
  readonly turns: number;
  readonly turn: EngineTurn | null;
  readonly last: EndedEngineTurn | null;
  /** Tokens that the model read and wrote for its last answer: the size of the conversation; 0 if unknown. */
  readonly context_tokens: number;
}

export const NO_TOKENS: TokenCounts = {
  input_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

const EMPTY: ConversationState = {
  session: "",
  messages: [],
  taken: [],
  turns: 0,
  turn: null,
  last: null,
  context_tokens: 0,
};

const addTokens = (one: TokenCounts, other: TokenCounts): TokenCounts => ({
  input_tokens: one.input_tokens + other.input_tokens,
  cached_tokens: one.cached_tokens + other.cached_tokens,
  cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
});

const begun = ({ message_id, worker_id, text }: Extract<JournalEntry, { type: "given" }>): EngineTurn => ({
  message_id,
  worker_id,
  prompt: text,
  steps: 0,
  usage: NO_TOKENS,
  tries: 0,
  failure: null,
  calls: [],
  answer: null,
  corrections: 0,
  is_interrupted: false,
  is_summarizing: false,
  is_compacted: false,
});

const said = (state: ConversationState, message: Message): ConversationState => ({
  ...state,
  messages: [...state.messages, message],
});

type ResultMessage = Extract<Message, { role: "tool" }>;

/** Results stand in the order of their calls, whichever ended first. */
const withResult = (state: ConversationState, result: ResultMessage): ConversationState => {
  const { messages } = state;
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const asked = messages[at];
  const order = asked?.role === "assistant" ? asked.tool_calls.map(({ id }) => id) : [];
  const place = (message: Message): number =>
    message.role === "tool" ? order.indexOf(message.call_id) : order.length;
  const results = [...messages.slice(at + 1), result].sort((one, other) => place(one) - place(other));
  return { ...state, messages: [...messages.slice(0, at + 1), ...results] };
};

/** Entries of a turn; those outside of one change nothing. */
const inTurn = (state: ConversationState, turn: EngineTurn, entry: JournalEntry): ConversationState => {
  switch (entry.type) {
    case "asking":
      return state;
    case "summarizing": {
      // A failure before it is why it was begun.
      const tries = turn.is_summarizing ? turn.tries : 0;
      return { ...state, turn: { ...turn, is_summarizing: true, tries, failure: null } };
    }
    case "answered": {
      const { message, reason, usage } = entry;
      const calls = message.tool_calls.map(
        (call) => ({ call, state: "waiting", is_idempotent: false }) as const,
      );
      const next: EngineTurn = {
        ...turn,
        steps: turn.steps + 1,
        usage: addTokens(turn.usage, usage),
        tries: 0,
        failure: null,
        calls,
        answer: { text: message.text, reason },
        is_compacted: false,
      };
      const { input_tokens, cached_tokens, cache_write_tokens, output_tokens } = usage;
      const context_tokens = input_tokens + cached_tokens + cache_write_tokens + output_tokens;
      return { ...said(state, message), turn: next, context_tokens };
    }
    case "failed": {
      const { kind, message, status, retry_after_ms } = entry;
      return {
        ...state,
        turn: { ...turn, tries: turn.tries + 1, failure: { kind, message, status, retry_after_ms } },
      };
    }
    case "calling": {
      const { call_id, is_idempotent } = entry;
      const calls = turn.calls.map((one) =>
        one.call.id === call_id ? { ...one, state: "begun" as const, is_idempotent } : one,
      );
      return { ...state, turn: { ...turn, calls } };
    }
    case "returned": {
      const { call_id, output, is_error } = entry;
      const found = turn.calls.find(({ call }) => call.id === call_id);
      if (found === undefined) return state;
      const next: EngineTurn = { ...turn, calls: turn.calls.filter((one) => one !== found), answer: null };
      const message = { role: "tool", call_id, name: found.call.name, output, is_error } as const;
      return { ...withResult(state, message), turn: next };
    }
    case "corrected":
      return {
        ...said(state, { role: "user", text: entry.text }),
        turn: { ...turn, answer: null, corrections: turn.corrections + 1 },
      };
    case "compacted": {
      const usage = entry.usage === undefined ? turn.usage : addTokens(turn.usage, entry.usage);
      const next: EngineTurn = {
        ...turn,
        usage,
        is_summarizing: false,
        is_compacted: true,
        tries: 0,
        failure: null,
      };
      return { ...state, messages: entry.messages, context_tokens: 0, turn: next };
    }
    case "interrupted":
      return { ...state, turn: { ...turn, is_interrupted: true } };
    case "ended":
      return { ...state, turns: state.turns + 1, turn: null, last: { turn, error: entry.error } };
  }
  return state;
};

export const evolve = (state: ConversationState, entry: JournalEntry): ConversationState => {
  if (entry.type === "opened") return { ...state, session: entry.session };
  if (entry.type === "given")
    return {
      ...said(state, { role: "user", text: entry.text }),
      taken: [...state.taken, entry.message_id].slice(-ENGINE_TAKEN_MAX),
      turn: begun(entry),
    };
  return state.turn === null ? state : inTurn(state, state.turn, entry);
};

export const foldEntries = (entries: readonly JournalEntry[]): ConversationState =>
  entries.reduce(evolve, EMPTY);
