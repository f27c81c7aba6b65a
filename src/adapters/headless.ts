/**
 * What the decoders of CLIs that take one prompt have in common: one session, turns, tools with a call and a result, the
 * answer so far, and errors that are told once. All of it is a fold over a small immutable state; every list has a bound.
 */
import type { AgentCompletion } from "../protocol/completion.ts";
import type { Usage, WorkerError } from "../protocol/records.ts";
import type { Decoded, DecodedRecord, ExitFacts, Line } from "./adapter.ts";
import {
  checkSessionId,
  type Facts,
  OVERSIZE_SESSION,
  sessionFacet,
  sessionStarted,
  type ToolEnd,
  type ToolFacts,
  turnCompleted,
  turnStarted,
  type Voice,
} from "./events.ts";
import { type KeptAnswer, keptAnswer, NO_ANSWER } from "./final-text.ts";
import { type JsonObject, parseLine } from "./json.ts";
import { addUsage, NO_USAGE } from "./usage.ts";

export interface HeadlessState {
  readonly session: string | null;
  /** The session facet goes out once a run, on the first session. */
  readonly announced: boolean;
  readonly turns_started: number;
  readonly turns_ended: number;
  /** Calls that wait for their result, newest last: [id, tool name]. */
  readonly tools: readonly (readonly [string, string | null])[];
  /** The last message of the agent itself. */
  readonly answer: Answer;
  /** An error that was told, and not yet followed by the end of its turn. */
  readonly reported: WorkerError | null;
  /** How the last turn that ended did so; null before the first and after a good one. */
  readonly failed: WorkerError | null;
  readonly usage: Usage;
  /** A line over the limit was skipped: perhaps the end of the turn. */
  readonly skipped: boolean;
}

interface Answer extends KeptAnswer {
  readonly id: string | null;
}

/** Results that are waited for; an older call's result then goes without its tool's name. */
const TOOLS_MAX = 32;

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

export type OnEvent<S> = (state: S, event: JsonObject, out: DecodedRecord[]) => S;

const NOTHING: readonly DecodedRecord[] = [];

/** The decoder of a CLI that prints one JSON object a line. What is none becomes an Unknown event without its text. */
export const decoderOf =
  <S extends { readonly skipped: boolean }>(voice: Voice, onEvent: OnEvent<S>) =>
  (state: S, line: Line): Decoded<S> => {
    // The ingest records a line over the limit; here it only matters that something is missing.
    if (line.kind === "truncated")
      return { state: state.skipped ? state : { ...state, skipped: true }, records: NOTHING };
    const event = parseLine(line.text);
    if (event === "blank") return { state, records: NOTHING };
    if (typeof event === "string") return { state, records: [voice.unknown({ reason: event })] };
    const out: DecodedRecord[] = [];
    return { state: onEvent(state, event, out), records: out };
  };

/** The steps of one kind. Each takes the state and gives the next one; what is to be told goes into `out`. */
export const stepsOf = (voice: Voice, sentence: string) => ({
  /** A line named its session: announced when it changes, and with the facet when it is the first. */
  onSession: <S extends HeadlessState>(
    state: S,
    id: string | undefined,
    out: DecodedRecord[],
    facts?: Facts,
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

  turnBegan: <S extends HeadlessState>(state: S, out: DecodedRecord[]): S => {
    const turn = state.turns_started + 1;
    out.push(turnStarted(turn));
    return { ...state, turns_started: turn };
  },

  turnEnded: <S extends HeadlessState>(
    state: S,
    usage: Usage,
    duration_ms: number | null,
    error: WorkerError | null,
    out: DecodedRecord[],
  ): S => {
    const turn = state.turns_ended + 1;
    if (state.turns_started < turn) out.push(turnStarted(turn));
    out.push(turnCompleted(turn, usage, duration_ms, error));
    return {
      ...state,
      turns_started: Math.max(state.turns_started, turn),
      turns_ended: turn,
      usage: addUsage(state.usage, usage),
      reported: null,
      failed: error,
    };
  },

  /** Text of a message of the agent's; `id` tells messages apart. */
  onText: <S extends HeadlessState>(state: S, id: string, text: string, out: DecodedRecord[]): S => {
    if (text === "") return state;
    out.push(voice.text("assistant", text, { message_id: id }));
    const before = state.answer.id === id ? state.answer : NO_ANSWER;
    return before.cut ? state : { ...state, answer: { id, ...keptAnswer(before, text) } };
  },

  onCall: <S extends HeadlessState>(state: S, tool: ToolFacts, out: DecodedRecord[]): S => {
    out.push(voice.toolCall(tool));
    return tool.use_id === null
      ? state
      : { ...state, tools: [...state.tools, [tool.use_id, tool.name] as const].slice(-TOOLS_MAX) };
  },

  /** The name is that of the call where the result has none. */
  onResult: <S extends HeadlessState>(state: S, tool: ToolFacts, end: ToolEnd, out: DecodedRecord[]): S => {
    const call = tool.use_id === null ? undefined : state.tools.find(([id]) => id === tool.use_id);
    out.push(voice.toolResult({ ...tool, name: tool.name ?? call?.[1] ?? null }, end));
    return call === undefined ? state : { ...state, tools: state.tools.filter((one) => one !== call) };
  },

  /** Once for each error between two ends of a turn: CLIs repeat themselves. */
  onError: <S extends HeadlessState>(state: S, error: WorkerError, out: DecodedRecord[]): S => {
    if (state.reported?.code === error.code) return state;
    out.push(voice.error(error));
    return { ...state, reported: error };
  },
});

/** Every turn that was started has ended. */
export const isSettled = ({ turns_started, turns_ended }: HeadlessState): boolean =>
  turns_ended > 0 && turns_ended >= turns_started;

/** `answered`: the last text is the agent's answer, and not what it said before it failed. */
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
