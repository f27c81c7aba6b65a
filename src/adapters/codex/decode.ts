/**
 * The JSON lines of `codex exec`, one by one (agent-clis.md §9). It prints whole items, never deltas. A warning comes as
 * an item of type `error` and is none; a failure comes twice, as `error` and as `turn.failed`, and is told once.
 */

import type { WorkerError } from "../../protocol/records.ts";
import type { Decoded, DecodedRecord, Line } from "../adapter.ts";
import { classifyText } from "../classify.ts";
import {
  checkSessionId,
  OVERSIZE_SESSION,
  sessionStarted,
  turnCompleted,
  turnStarted,
  voiceOf,
} from "../events.ts";
import { asName, asObject, asString, type JsonObject, parseLine } from "../json.ts";
import { addUsage, codexUsage, NO_USAGE } from "../usage.ts";
import { onItem } from "./items.ts";
import type { ExecState } from "./state.ts";

const voice = voiceOf("codex");
const NOTHING: readonly DecodedRecord[] = [];

export const decode = (state: ExecState, line: Line): Decoded<ExecState> => {
  // The ingest records a line over the limit; here it only matters that something is missing.
  if (line.kind === "truncated")
    return { state: state.skipped ? state : { ...state, skipped: true }, records: NOTHING };
  const event = parseLine(line.text);
  if (event === "blank") return { state, records: NOTHING };
  if (typeof event === "string") return { state, records: [voice.unknown({ reason: event })] };
  const out: DecodedRecord[] = [];
  return { state: onEvent(state, event, out), records: out };
};

const onEvent = (state: ExecState, event: JsonObject, out: DecodedRecord[]): ExecState => {
  switch (event.type) {
    case "thread.started":
    case "thread.resumed":
      return onThread(state, asString(event.thread_id), out);
    case "turn.started": {
      const turn = state.turns_started + 1;
      out.push(turnStarted(turn));
      return { ...state, turns_started: turn };
    }
    case "item.started":
    case "item.updated":
    case "item.completed": {
      const item = asObject(event.item);
      if (item !== undefined) return onItem(state, event.type, item, out);
      break;
    }
    case "item.plan.delta":
    case "request_user_input":
      out.push(
        voice.status(event.type === "item.plan.delta" ? "The plan grew." : "The agent asked for input.", {
          type: event.type,
        }),
      );
      return state;
    case "turn.completed":
      return onTurnEnd(state, asObject(event.usage), null, out);
    case "turn.failed": {
      const error = errorOf(asString(asObject(event.error)?.message));
      return onTurnEnd(onError(state, error, out), undefined, error, out);
    }
    case "error":
      return onErrorLine(state, asString(event.message), out);
  }
  out.push(voice.unknown({ type: asName(event.type) }));
  return state;
};

const onThread = (state: ExecState, id: string | undefined, out: DecodedRecord[]): ExecState => {
  const verdict = id === undefined ? "empty" : checkSessionId(id);
  if (id === undefined || verdict !== "ok") {
    out.push(voice.status(verdict === "oversize" ? OVERSIZE_SESSION : "A thread without an id started."));
    return state;
  }
  if (id !== state.thread) out.push(sessionStarted(id));
  if (state.announced) out.push(voice.status("A thread of codex started."));
  else out.push(voice.session("A thread of codex started.", id));
  return { ...state, thread: id, announced: true };
};

const onErrorLine = (state: ExecState, message: string | undefined, out: DecodedRecord[]): ExecState => {
  const retry = /^Reconnecting\.\.\. (\d{1,4})\/(\d{1,4})\b/.exec(message ?? "");
  if (retry === null) return onError(state, errorOf(message), out);
  out.push(
    voice.status(`The agent's CLI tries the provider again (${retry[1]} of ${retry[2]}).`, {
      retry: Number(retry[1]),
      max_retries: Number(retry[2]),
    }),
  );
  return state;
};

const onError = (state: ExecState, error: WorkerError, out: DecodedRecord[]): ExecState => {
  if (state.reported?.code === error.code) return state;
  out.push(voice.error(error));
  return { ...state, reported: error };
};

/** codex gives its errors in words alone; the words are classified and dropped. */
const errorOf = (message: string | undefined): WorkerError =>
  classifyText(message ?? "") ?? { code: "AGENT_FAILED", message: "codex reported an error." };

const onTurnEnd = (
  state: ExecState,
  used: JsonObject | undefined,
  error: WorkerError | null,
  out: DecodedRecord[],
): ExecState => {
  const usage = used === undefined ? NO_USAGE : codexUsage(used);
  const turn = state.turns_ended + 1;
  if (state.turns_started < turn) out.push(turnStarted(turn));
  out.push(turnCompleted(turn, usage, null, error));
  return {
    ...state,
    turns_started: Math.max(state.turns_started, turn),
    turns_ended: turn,
    usage: addUsage(state.usage, usage),
    reported: null,
    failed: error,
  };
};
