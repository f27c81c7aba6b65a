/**
 * Steps that decoders share: the session, turns, tool calls and results, the answer so far, and errors, each
 * recorded once. Each step takes the state and returns the next one, and pushes records to `out`.
 */

import { appended } from "../../base/bounded-list.ts";
import type { ModelUsage, Usage, WorkerError } from "../../protocol/records.ts";
import type { DecodedItem } from "../adapter.ts";
import {
  checkSessionId,
  type EventFacts,
  type KindEvents,
  OVERSIZE_SESSION,
  sessionStarted,
  type ToolEnd,
  type ToolFacts,
  turnCompleted,
  turnStarted,
} from "./events.ts";
import { keptAnswer, NO_ANSWER } from "./final-text.ts";
import type { HeadlessState } from "./headless.ts";
import { addUsage } from "./usage.ts";

type SessionState = Pick<HeadlessState, "session" | "announced">;
type TurnState = Pick<HeadlessState, "turns_started" | "turns_ended" | "usage" | "reported" | "failed">;

/** Open calls that are remembered. The result of an older call has no tool name. */
const TOOLS_MAX = 32;

/** Begins a turn. */
export const turnBegan = <S extends Pick<TurnState, "turns_started">>(state: S, out: DecodedItem[]): S => {
  const turn = state.turns_started + 1;
  out.push(turnStarted(turn));
  return { ...state, turns_started: turn };
};

export interface TurnEnd {
  readonly usage: Usage;
  readonly duration_ms: number | null;
  readonly error: WorkerError | null;
  readonly models?: readonly ModelUsage[];
}

/** Ends the oldest open turn. If none is open, one began just before. */
export const turnCounted = <S extends Pick<TurnState, "turns_started" | "turns_ended">>(
  state: S,
  { usage, duration_ms, error, models }: TurnEnd,
  out: DecodedItem[],
): S => {
  const turn = state.turns_ended + 1;
  if (state.turns_started < turn) out.push(turnStarted(turn));
  out.push(turnCompleted(turn, usage, duration_ms, error, models));
  return { ...state, turns_started: Math.max(state.turns_started, turn), turns_ended: turn };
};

/** `sentence` announces that the session has begun. */
export const stepsOf = (voice: KindEvents, sentence: string) => ({
  /** A line named its session: recorded when it changes, with the session facet only the first time. */
  onSession: <S extends SessionState>(
    state: S,
    id: string | undefined,
    out: DecodedItem[],
    facts?: EventFacts,
  ): S => {
    if (id === undefined || id === state.session) return state;
    const verdict = checkSessionId(id);
    if (verdict === "empty") return state;
    if (verdict === "oversize") {
      if (!state.announced) out.push(voice.status(OVERSIZE_SESSION));
      return state.announced ? state : { ...state, announced: true };
    }
    out.push(sessionStarted(id));
    if (!state.announced) out.push(voice.session(sentence, id, facts));
    return { ...state, session: id, announced: true };
  },

  turnBegan,

  turnEnded: <S extends TurnState>(
    state: S,
    usage: Usage,
    duration_ms: number | null,
    error: WorkerError | null,
    out: DecodedItem[],
  ): S => {
    const next = { ...state, usage: addUsage(state.usage, usage), reported: null, failed: error };
    return turnCounted(next, { usage, duration_ms, error }, out);
  },

  /** The text of an agent's message; `id` identifies the message. */
  onText: <S extends HeadlessState>(state: S, id: string, text: string, out: DecodedItem[]): S => {
    if (text === "") return state;
    out.push(voice.text("assistant", text, { message_id: id }));
    const before = state.answer.id === id ? state.answer : NO_ANSWER;
    return before.cut ? state : { ...state, answer: { id, ...keptAnswer(before, text) } };
  },

  onCall: <S extends HeadlessState>(state: S, tool: ToolFacts, out: DecodedItem[]): S => {
    out.push(voice.toolCall(tool));
    return tool.use_id === null
      ? state
      : { ...state, tools: appended(state.tools, [tool.use_id, tool.name] as const, TOOLS_MAX) };
  },

  /** A result without a tool name gets the name of its call. */
  onResult: <S extends HeadlessState>(state: S, tool: ToolFacts, end: ToolEnd, out: DecodedItem[]): S => {
    const call = tool.use_id === null ? undefined : state.tools.find(([id]) => id === tool.use_id);
    out.push(voice.toolResult({ ...tool, name: tool.name ?? call?.[1] ?? null }, end));
    return call === undefined ? state : { ...state, tools: state.tools.filter((one) => one !== call) };
  },

  /** Records an error once per turn, because CLIs repeat themselves. */
  onError: <S extends TurnState>(state: S, error: WorkerError, out: DecodedItem[]): S => {
    if (state.reported?.code === error.code) return state;
    out.push(voice.error(error));
    return { ...state, reported: error };
  },
});
