/**
 * Opens a thread: `initialize`, then `thread/start`, `thread/resume` or `thread/fork`, with `thread/list`
 * before it if the newest thread is requested. Each step is the reply to the answer of the step before. A
 * failure here ends this incarnation: its input is closed. If a thread of an earlier incarnation is gone, the
 * supervisor decides what to do.
 */

import { asList, asObject, asString, type JsonObject } from "../../../../base/json.ts";
import type { WorkerError } from "../../../../protocol/records.ts";
import type { DecodedItem } from "../../../adapter.ts";
import { NO_SESSION_FOUND } from "../../../decoding/classify.ts";
import { dialogueOf, usableId } from "../../../decoding/dialogue.ts";
import { checkSessionId, OVERSIZE_SESSION, sessionStarted, voiceOf } from "../../../decoding/events.ts";
import { rpcError } from "./errors.ts";
import * as rpc from "./rpc.ts";
import type { AppServerState, ThreadWanted } from "./state.ts";

const voice = voiceOf("codex");
const { unasked, refused } = dialogueOf(voice);

export const onInitialized = (
  state: AppServerState,
  answer: JsonObject,
  out: DecodedItem[],
): AppServerState => {
  const { handshake } = state;
  if (handshake?.step !== "initialize") return unasked(state, out);
  if (asObject(answer.result) === undefined) return refused(state, rpcError(asObject(answer.error)), out);
  const { wanted } = handshake;
  const { from } = wanted;
  if (from?.by === "last") {
    out.push({ type: "reply", line: rpc.initialized() + rpc.newestThread(wanted.cwd) });
    return { ...state, handshake: { step: "list", wanted } };
  }
  out.push({ type: "reply", line: rpc.initialized() + threadLine(wanted, from?.id) });
  return { ...state, handshake: { step: "thread", wanted } };
};

const threadLine = (wanted: ThreadWanted, id: string | undefined): string =>
  rpc.openThread(wanted, id === undefined ? "new" : wanted.fork ? "fork" : "resume", id ?? "");

export const onList = (state: AppServerState, answer: JsonObject, out: DecodedItem[]): AppServerState => {
  const { handshake } = state;
  if (handshake?.step !== "list") return unasked(state, out);
  const result = asObject(answer.result);
  if (result === undefined) return refused(state, rpcError(asObject(answer.error)), out);
  const id = usableId(asObject(asList(result.data)[0])?.id);
  if (id === undefined) return refused(state, NO_SESSION_FOUND, out);
  const wanted: ThreadWanted = { ...handshake.wanted, from: { by: "id", id } };
  out.push({ type: "reply", line: threadLine(wanted, id) });
  return { ...state, handshake: { step: "thread", wanted } };
};

export const onThread = (state: AppServerState, answer: JsonObject, out: DecodedItem[]): AppServerState => {
  const { handshake } = state;
  if (handshake?.step !== "thread") return unasked(state, out);
  const result = asObject(answer.result);
  if (result === undefined) return refused(state, rpcError(asObject(answer.error)), out);
  const told = asString(asObject(result.thread)?.id) ?? "";
  const id = usableId(told);
  if (id === undefined) {
    if (checkSessionId(told) === "oversize") out.push(voice.status(OVERSIZE_SESSION));
    return refused(state, NO_THREAD_ID, out);
  }
  const { from, fork } = handshake.wanted;
  const message =
    from === null
      ? "A thread of codex started."
      : fork
        ? "codex began a branch of the thread."
        : "codex continues its thread.";
  out.push(sessionStarted(id), voice.session(message, id));
  return { ...state, thread: id, handshake: null };
};

const NO_THREAD_ID: WorkerError = {
  code: "AGENT_FAILED",
  message: "codex opened a thread without a usable id.",
};
